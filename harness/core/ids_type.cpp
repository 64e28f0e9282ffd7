#include "ids_type.hpp"

#include <memory>

#include "guarded.hpp"
#include "ids.hpp"

namespace synthesis {

namespace {

struct IdsObject {
    PyObject_HEAD
    Ids* ids;
};

PyObject* new_ids(PyTypeObject* type, PyObject* arguments, PyObject* named) {
    static const char* keywords[] = {nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, named, ":Ids", const_cast<char**>(keywords))) return nullptr;
    return guarded([&] {
        auto ids = std::make_unique<Ids>();
        Owned made(type->tp_alloc(type, 0));
        reinterpret_cast<IdsObject*>(made.get())->ids = ids.release();
        return made.release();
    });
}

void delete_ids(PyObject* self) {
    delete reinterpret_cast<IdsObject*>(self)->ids;
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* add(PyObject* self, PyObject* lines) {
    if (!PyBytes_Check(lines)) return PyErr_SetString(PyExc_TypeError, "add(ids): ids must be bytes"), nullptr;
    return guarded([&] {
        const std::string_view ids(PyBytes_AS_STRING(lines), PyBytes_GET_SIZE(lines));
        return PyBool_FromLong(reinterpret_cast<IdsObject*>(self)->ids->add_lines(ids));
    });
}

PyDoc_STRVAR(add_text, "add(ids)\n--\n\nWhether all of them are new: one a line, as bytes.");
PyDoc_STRVAR(ids_text, "Ids()\n--\n\nWhich ids were used.");

PyMethodDef methods[] = {
    {"add", add, METH_O, add_text},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(ids_text)},
    {Py_tp_new, reinterpret_cast<void*>(new_ids)},
    {Py_tp_dealloc, reinterpret_cast<void*>(delete_ids)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

}  // namespace

PyType_Spec ids_type = {
    "harness._core.Ids", sizeof(IdsObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots,
};

}  // namespace synthesis
