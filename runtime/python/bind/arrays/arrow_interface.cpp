#include "runtime/python/bind/arrays/arrow_interface.h"

#include <fmt/format.h>

#include <cstring>

#include "runtime/python/bind/arrays/array_refusals.h"
#include "runtime/python/bind/names.h"

namespace segfold::python {
namespace {

bool has(nb::handle object, const nb::str& name) { return PyObject_HasAttr(object.ptr(), name.ptr()) == 1; }

/// Takes ownership of the structure in a capsule called `name`. Throws InputError for any other object.
template <class T>
void take_capsule(ArrowOwned<T>& into, nb::handle capsule, const char* name, const std::string& what)
{
    auto* const held = PyCapsule_IsValid(capsule.ptr(), name) == 0
                           ? nullptr
                           : static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (held == nullptr || held->release == nullptr)
        refuse(what,
               fmt::format("gives {} where a capsule '{}' of Arrow's C data interface belongs",
                           held == nullptr ? text_of(nb::repr(capsule)) : "one that was taken before", name));
    into.take(*held);
}

}  // namespace

bool ArrowLender::is(nb::handle object)
{
    const auto& n = names();
    if (!has(object, n.arrow_c_array) && !has(object, n.arrow_c_stream))
        return false;
    const auto module = text_of(object.type().attr("__module__"));
    const bool is_of_pandas = module.substr(0, module.find('.')) == "pandas";
    return !is_of_pandas || nb::hasattr(nb::getattr(object, "dtype", nb::none()), "pyarrow_dtype");
}

ArrowLender::ArrowLender(nb::handle object, const std::string& what) : what_(what)
{
    try {
        if (has(object, names().arrow_c_array))
            take_array(object);
        else
            take_stream(object);
    } catch (const nb::python_error& error) {
        refuse(what_, fmt::format("does not lend its memory: {}", text_of(error)));
    }
}

void ArrowLender::take_array(nb::handle object)
{
    const nb::object pair = object.attr(names().arrow_c_array)();
    if (!PyTuple_Check(pair.ptr()) || PyTuple_Size(pair.ptr()) != 2)
        refuse(what_, fmt::format("gives {} where two capsules of Arrow's C data interface belong",
                                  text_of(nb::repr(pair))));
    take_capsule(schema_, PyTuple_GetItem(pair.ptr(), 0), "arrow_schema", what_);
    take_capsule(array_, PyTuple_GetItem(pair.ptr(), 1), "arrow_array", what_);
}

void ArrowLender::take_stream(nb::handle object)
{
    take_capsule(stream_, object.attr(names().arrow_c_stream)(), "arrow_array_stream", what_);
    int error = 0;
    {
        const nb::gil_scoped_release released;  // the provider may wait for threads that need the lock
        error = (*stream_).get_schema(stream_.get(), schema_.get());
    }
    if (error != 0)
        refuse_failure(error);
    if (!schema_.is_there())
        refuse(what_, "lends arrays of Arrow without their type");
}

std::vector<ArrowOwned<ArrowArray>> ArrowLender::arrays()
{
    std::vector<ArrowOwned<ArrowArray>> arrays;
    const auto keep = [&](ArrowOwned<ArrowArray>&& array) {
        if ((*array).length != 0)
            arrays.push_back(std::move(array));
    };
    if (!stream_.is_there()) {
        keep(std::move(array_));
        return arrays;
    }
    for (;;) {
        ArrowOwned<ArrowArray> next;
        int error = 0;
        {
            const nb::gil_scoped_release released;
            error = (*stream_).get_next(stream_.get(), next.get());
        }
        if (error != 0)
            refuse_failure(error);
        if (!next.is_there())
            return arrays;
        keep(std::move(next));
    }
}

void ArrowLender::refuse_failure(int error) const
{
    auto& stream = const_cast<ArrowArrayStream&>(*stream_);
    const char* const text = stream.get_last_error(&stream);
    refuse(what_, fmt::format("does not lend its memory: {}", text == nullptr ? std::strerror(error) : text));
}

}  // namespace segfold::python
