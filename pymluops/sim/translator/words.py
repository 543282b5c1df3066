"""The words of BANG C that the translator looks for."""

#: Qualifiers of variables in the memory of a core or a cluster, by their names in mlusim_source.h.
MEMORIES = {
    "__nram__": "mlusim_nram",
    "__wram__": "mlusim_wram",
    "__mlu_shared__": "mlusim_sram",
}
LOCAL_MEMORY = "__ldram__"
CONSTANT_MEMORY = "__mlu_const__"
#: The name of that memory in mlusim_source.h.
CONSTANT = "mlusim_constant"
DEVICE = "__mlu_device__"
#: The name of its memory in mlusim_source.h.
DEVICE_MEMORY = "mlusim_gdram"
#: The words that make a function a kernel.
KERNELS = frozenset({"__mlu_entry__", "__mlu_global__"})
#: Attributes that bang.h defines as `inline`.
INLINE_ATTRIBUTES = frozenset({"__mlu_func__", "__mlu_vector__", DEVICE})
INLINE = frozenset({"inline", "__inline", "__inline__"})
ASSEMBLY = frozenset({"asm", "__asm", "__asm__"})
ASSEMBLY_QUALIFIERS = frozenset({"volatile", "__volatile", "__volatile__", "inline", "goto"})
CLASS_KEYS = frozenset({"class", "struct", "union", "enum"})
#: Words before a parenthesis that belongs to a declaration without being the name of a function.
ATTRIBUTES = frozenset({"__attribute__", "__attribute", "alignas", "_Alignas", "__align__", "__declspec"})
TYPE_OPERATORS = frozenset({"decltype", "typeof", "__typeof__", "__typeof", "__decltype"})
#: Words of a declaration that are no part of the type.
SPECIFIERS = frozenset(
    {"typedef", "static", "extern", "register", "thread_local", "mutable", LOCAL_MEMORY, CONSTANT_MEMORY}
    | {*INLINE, *INLINE_ATTRIBUTES, *MEMORIES}
)
QUALIFIERS = frozenset({"const", "volatile", "__restrict__", "__restrict", "restrict", *MEMORIES, LOCAL_MEMORY})
#: Words that an expression can follow, so that they are no name before `::` or `(`.
EXPRESSION_KEYWORDS = frozenset({"return", "else", "do", "throw", "case", "co_return", "if", "while", "for", "switch"})
#: Words that may be a part of a type which goes on behind a specifier.
TYPE_WORDS = frozenset(
    {"unsigned", "signed", "short", "long", "struct", "class", "union", "enum", "typename", "template", *QUALIFIERS}
)
