"""Names at file scope that the C library has taken, and names of the C++ library that `using namespace std` brings in.

A device compiler knows none of them; a host compiler sees the headers of both.
"""

_MATH = """
    acos acosh asin asinh atan atan2 atanh canonicalize cbrt ceil copysign cos cosh daddl ddivl dfmal dmull drem dsqrtl
    dsubl erf erfc exp exp10 exp2 expm1 fabs fadd fdim fdiv ffma finite floor fma fmax fmaximum fmaximum_mag
    fmaximum_mag_num fmaximum_num fmaxmag fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag fmod fmul
    frexp fromfp fromfpx fsqrt fsub gamma getpayload hypot ilogb isinff isinfl isnanf isnanl j0 j1 jn ldexp lgamma
    lgamma_r lgammaf_r lgammal_r llogb llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
    nextafter nextdown nexttoward nextup pow remainder remquo rint round roundeven scalb scalbln scalbn setpayload
    setpayloadsig signgam significand sin sincos sinh sqrt tan tanh tgamma totalorder totalordermag trunc ufromfp
    ufromfpx y0 y1 yn
"""
_OTHERS = """
    a64l abort abs accept access acct alarm aligned_alloc alloca arc4random arc4random_buf arc4random_uniform asctime
    asprintf at_quick_exit atexit atof atoi atol atoll basename bcmp bcopy bind brk bsearch bzero calloc
    canonicalize_file_name chmod chown chroot clearenv clearerr clearerr_unlocked clock clock_gettime close connect
    creat crypt ctermid ctime cuserid daemon daylight difftime div dprintf drand48 drand48_r dup dup2 ecvt ecvt_r
    encrypt environ erand48 erand48_r exit explicit_bzero fclose fcloseall fcntl fcvt fcvt_r fdopen feof feof_unlocked
    ferror ferror_unlocked fflush fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgetpos64 fgets
    fgets_unlocked fileno fileno_unlocked flockfile fmemopen fopen fopen64 fopencookie fork fprintf fputc fputc_unlocked
    fputs fputs_unlocked fread fread_unlocked free freopen freopen64 fscanf fseek fseeko fseeko64 fsetpos fsetpos64
    fstat ftell ftello ftello64 ftruncate ftrylockfile ftw funlockfile fwrite fwrite_unlocked gcvt getc getc_unlocked
    getchar getchar_unlocked getdelim getenv getline getloadavg getopt getpt getsubopt getw gmtime grantpt htonl htons
    index inet_addr initstate initstate_r ioctl isalpha iscntrl isdigit isgraph islower isprint ispunct isspace isupper
    iswalpha jrand48 jrand48_r kill l64a labs lcong48 lcong48_r ldiv link listen llabs lldiv localtime lrand48 lrand48_r
    lseek lstat malloc mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset
    mkdir mkdtemp mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64 mkstemps mkstemps64 mktemp mktime mmap
    mrand48 mrand48_r munmap nanosleep nice nrand48 nrand48_r ntohl ntohs obstack_printf obstack_vprintf on_exit open
    open_memstream optarg opterr optind optopt pause pclose perror pipe poll popen posix_memalign posix_openpt printf
    profil pselect ptsname ptsname_r putc putc_unlocked putchar putchar_unlocked putenv puts putw qecvt qecvt_r qfcvt
    qfcvt_r qgcvt qsort qsort_r quick_exit raise rand rand_r random random_r rawmemchr read realloc reallocarray
    realpath recv remove rename renameat renameat2 rewind rindex rpmatch sbrk scanf secure_getenv seed48 seed48_r select
    send setbuf setbuffer setenv setkey setlinebuf setstate setstate_r setvbuf shutdown sigabbrev_np sigdescr_np signal
    sleep snprintf socket splice sprintf srand srand48 srand48_r srandom srandom_r sscanf stat stime stpcpy stpncpy
    strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn strdup strerror
    strerror_l strerror_r strerrordesc_np strerrorname_np strfromd strfromf strfroml strfry strftime strlen strncasecmp
    strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtod strtod_l
    strtof strtof128_l strtof32_l strtof32x_l strtof64_l strtof64x_l strtof_l strtok strtok_r strtol strtol_l strtold
    strtold_l strtoll strtoll_l strtoq strtoul strtoul_l strtoull strtoull_l strtouq strverscmp strxfrm strxfrm_l swab
    symlink sync system tee tempnam time timegm times timezone tmpfile tmpfile64 tmpnam tmpnam_r tolower toupper
    truncate tzname tzset ulimit umask ungetc unlink unlockpt unsetenv usleep utime valloc vasprintf vdprintf vfprintf
    vfscanf vhangup vprintf vscanf vsnprintf vsprintf vsscanf wait wait3 wait4 wcslen wcstombs wctomb write
"""
_STD = """
    advance all_of any any_of array async atomic begin beta bind boolalpha byte cbegin cend cerr cin clamp clog
    comp_ellint_1 copy copy_n count count_if cout data dec deque distance divides empty end endl ends equal equal_to
    exchange expint fill fill_n find find_if fixed flush forward function gcd generate get greater greater_equal hash
    hermite hex ignore inner_product iota is_sorted laguerre lcm left legendre less less_equal list lock map max
    max_element merge min min_element minmax minmax_element minus mismatch modulus move multiplies mutex negate next
    none_of nth_element numeric_limits oct optional pair partial_sort partial_sum partition plus prev queue ratio rbegin
    reduce ref rend replace reverse right rotate sample scientific search set setw shuffle size sort stack string swap
    thread transform tuple unique unordered_map valarray variant vector ws
"""
#: Of the headers that `bang.h` includes, and of those that host code includes most.
C_NAMES = frozenset(
    {"min", "max", *_OTHERS.split(), *(name + suffix for name in _MATH.split() for suffix in ("", "f", "l"))}
)
#: Names that `using namespace std` makes ambiguous.
STD_NAMES = frozenset(_STD.split())
#: Variables of the C library, which a source may declare itself: `extern char **environ;`.
C_VARIABLES = frozenset(
    {"daylight", "environ", "optarg", "opterr", "optind", "optopt", "program_invocation_name", "signgam", "stderr"}
    | {"program_invocation_short_name", "stdin", "stdout", "timezone", "tzname"}
)
