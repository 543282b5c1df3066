// The exchange API of DLPack for types that tests make in Python: every function calls a Python
// method.
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  void *data;
  int32_t device[2], ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;

typedef struct Header {
  uint32_t major, minor;
  struct Header *previous;
} Header;

typedef struct {
  Header header;
  void *allocate;
  int (*from_object)(void *object, void **out);
  int (*to_object)(void *tensor, void **out);
  int (*borrow)(void *object, Tensor *out);
  void *current_stream;
} Table;

// Calls a method that returns an address; 0 stands for a failure without an exception.
static void *address_from(PyObject *object, const char *method) {
  PyObject *number = PyObject_CallMethod(object, method, NULL);
  if (number == NULL) return NULL;
  void *address = PyLong_AsVoidPtr(number);
  Py_DECREF(number);
  return address;
}

static int from_object(void *object, void **out) {
  *out = address_from((PyObject *)object, "export_managed");
  return *out == NULL ? -1 : 0;
}

static int borrow(void *object, Tensor *out) {
  const void *tensor = address_from((PyObject *)object, "export_borrowed");
  if (tensor == NULL) return -1;
  memcpy(out, tensor, sizeof(Tensor));
  return 0;
}

static PyObject *importer = NULL;

static int to_object(void *tensor, void **out) {
  *out = PyObject_CallFunction(importer, "N", PyLong_FromVoidPtr(tensor));
  return *out == NULL ? -1 : 0;
}

// What `__dlpack_c_exchange_api__` of a type is to be. `function` makes an object of a managed
// tensor's address.
PyObject *exchange_capsule(unsigned major, int linked, int borrows, int imports, PyObject *function) {
  Table *tables = calloc(2, sizeof(Table));  // lives as long as the process, as the specification wants it
  Py_INCREF(function);
  importer = function;
  for (int i = 0; i < 2; i++) {
    tables[i].from_object = from_object;
    tables[i].to_object = imports ? to_object : NULL;
    tables[i].borrow = borrows ? borrow : NULL;
  }
  tables[0].header.major = major;
  tables[1].header.major = 1;
  if (linked) tables[0].header.previous = &tables[1].header;
  if (major != 1) tables[0].from_object = NULL;  // another version may have anything there
  return PyCapsule_New(tables, "dlpack_exchange_api", NULL);
}
