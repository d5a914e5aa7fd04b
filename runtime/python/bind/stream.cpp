// Python streams: fold columns that are read from files and iterators, and return results slice by slice.
#include "runtime/python/bind/stream.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/python/bind/arrays/array_out.h"
#include "runtime/python/bind/arrays/arrow_in.h"
#include "runtime/python/bind/call.h"
#include "runtime/python/bind/operator.h"
#include "runtime/python/bind/sessions.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/scale/stream.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold::python {
namespace {

/// Acquires the interpreter's lock, unless this thread already holds it.
using Locked = nb::gil_scoped_acquire;

/// Set when a stream is closed.
using Closed = std::shared_ptr<std::atomic<bool>>;

/// The Closed flag of the stream whose iterator this thread is reading; null if it is reading none.
thread_local const std::atomic<bool>* reading = nullptr;

/// Joins the arrays of an iterator to one column, by copying.
class Chunks {
public:
    /// Reads the first array, whose type is the column's type. If the iterator gives no arrays, the type is
    /// `fallback`. After `closed` is set, Stopped is thrown instead of reading the iterator.
    Chunks(nb::object iterator, std::string what, std::optional<Type> fallback, Closed closed)
        : iterator_(std::move(iterator)), what_(std::move(what)), closed_(std::move(closed))
    {
        if (!advance() && !fallback)
            throw InputError(fmt::format("'{}' gives no array, so that its type is not known", what_));
        type_ = current_ ? current_->view().type : *fallback;
    }
    ~Chunks()
    {
        const Locked locked;
        current_.reset();
        iterator_.reset();
    }
    Chunks(const Chunks&) = delete;
    Chunks& operator=(const Chunks&) = delete;

    [[nodiscard]] Type type() const { return type_; }

    /// Copies the next elements to `into` and returns their number. Must be called without the interpreter's
    /// lock.
    std::int64_t make(Array& into)
    {
        const auto width = size_bytes(type_);
        const auto room = static_cast<std::int64_t>(into.length());
        std::int64_t done = 0;
        while (done < room) {
            if (!current_ || taken_ == current_->view().length) {
                const Locked locked;
                if (!advance())
                    break;
                continue;
            }
            const auto count = std::min(room - done, current_->view().length - taken_);
            std::memcpy(into.data() + static_cast<std::size_t>(done) * width,
                        static_cast<const std::byte*>(current_->view().data) +
                            static_cast<std::size_t>(taken_) * width,
                        static_cast<std::size_t>(count) * width);
            done += count;
            taken_ += count;
        }
        return done;
    }

    /// True if elements are left. Must be called without the interpreter's lock.
    bool has_more()
    {
        const Locked locked;
        while (!current_ || taken_ == current_->view().length)
            if (!advance())
                return false;
        return true;
    }

private:
    /// Reads the next array into current_. Returns false at the end. The caller must hold the interpreter's
    /// lock.
    bool advance()
    {
        current_.reset();
        taken_ = 0;
        if (*closed_)
            throw Stopped();
        const auto* const outer = std::exchange(reading, closed_.get());
        const nb::object next = nb::steal(PyIter_Next(iterator_.ptr()));
        reading = outer;
        if (!next.is_valid()) {
            if (PyErr_Occurred() != nullptr)
                throw nb::python_error();
            return false;
        }
        ArrayIn array(next, what_, Access::read, Holds::elements);
        if (array.lists() != nullptr)
            throw InputError(fmt::format(
                "'{}' gives an array of lists, none of which goes on in the next array; fold each "
                "array by a call of the operator",
                what_));
        if (array.view().place != Place::host)
            throw InputError(
                fmt::format("'{}' gives an array on a GPU; a stream copies arrays of the host to it", what_));
        if (is_begun_ && array.view().type != type_)
            throw InputError(fmt::format("'{}' gives an array of {} behind one of {}; all are of one type",
                                         what_, dtype_name(array.view().type), dtype_name(type_)));
        type_ = array.view().type;
        is_begun_ = true;
        current_.emplace(std::move(array));
        return true;
    }

    nb::object iterator_;
    std::string what_;
    Closed closed_;
    Type type_ = Type::f32;
    bool is_begun_ = false;
    std::optional<ArrayIn> current_;
    std::int64_t taken_ = 0;
};

/// A source that reads a Python array and keeps it alive.
class LentArray : public ArraySource {
public:
    explicit LentArray(ArrayIn&& array)
        : array_(std::move(array)), source_(memory_source(borrow(array_.view())))
    {}
    ~LentArray() override
    {
        const Locked locked;
        array_ = {};
    }
    LentArray(const LentArray&) = delete;
    LentArray& operator=(const LentArray&) = delete;
    [[nodiscard]] Type type() const override { return source_->type(); }
    [[nodiscard]] std::optional<std::int64_t> length() const override { return source_->length(); }
    std::int64_t read(std::int64_t begin, Array& into) override { return source_->read(begin, into); }
    [[nodiscard]] const std::byte* lent(std::int64_t begin) const override { return source_->lent(begin); }
    [[nodiscard]] std::string where() const override { return source_->where(); }
    [[nodiscard]] std::string fingerprint() const override { return source_->fingerprint(); }
    [[nodiscard]] const ArrayIn& array() const { return array_; }

private:
    ArrayIn array_;
    std::unique_ptr<ArraySource> source_;
};

/// Makes a source for one parameter. `given` is ("array", array), ("file", path) or ("chunks", iterator).
std::unique_ptr<ArraySource> source_of(const nb::tuple& given, const std::string& what,
                                       std::optional<Type> type, std::optional<std::int64_t> num_elements,
                                       const Closed& closed)
{
    const auto kind = nb::cast<std::string>(given[0]);
    if (kind == "file")
        return npy_source(nb::cast<std::string>(given[1]));
    if (kind == "array") {
        ArrayIn array(given[1], what, Access::read, Holds::elements);
        if (array.view().place != Place::host)
            throw InputError(
                fmt::format("'{}' lies on a GPU; a stream copies arrays of the host to it", what));
        return std::make_unique<LentArray>(std::move(array));
    }
    const auto chunks = std::make_shared<Chunks>(nb::object(given[1]), what, type, closed);
    return generated_source(
        chunks->type(), [chunks](Array& into) { return chunks->make(into); }, num_elements,
        [chunks] { return chunks->has_more(); });
}

/// Returns the Python array of a LentArray; null for other sources.
const ArrayIn* array_of(const std::unique_ptr<ArraySource>& source)
{
    const auto* const lent = dynamic_cast<const LentArray*>(source.get());
    return lent == nullptr ? nullptr : &lent->array();
}

/// Uses the lists of arrays as segments, if there are any. `layout` is the name of the argument that gives
/// segments.
void take_lists(StreamInput& input, const Operator& op, const std::string& layout)
{
    std::vector<const ArrayIn*> arrays;
    for (const auto& source : input.parameters)
        arrays.push_back(array_of(source));
    const auto* const marks = array_of(input.segments.array);
    if (marks != nullptr && input.segments.kind == LayoutKind::offsets)
        require_no_offsets_of_lists(arrays, *marks, layout);
    const auto* const lists = common_lists(op, arrays, layout == "whole" ? "" : layout);
    if (lists == nullptr)
        return;
    input.segments.kind = lists->kind;
    input.segments.uniform_length = lists->uniform_length;
    // The offsets belong to the column, whose source keeps them alive.
    if (lists->kind == LayoutKind::offsets)
        input.segments.array = memory_source(borrow(lists->first));
}

/// A stream that runs in its own thread. The caller takes its results in order.
class PyStream {
public:
    /// All sources share the flag `closed`.
    PyStream(const std::shared_ptr<Session>& session, std::shared_ptr<TypedOperator> typed, StreamInput input,
             StreamOptions options, Closed closed)
        : session_(session),
          typed_(std::move(typed)),
          has_keys_((input.segments.kind == LayoutKind::keys || input.segments.groups.order) &&
                    typed_->op.keeps_results),
          closed_(std::move(closed))
    {
        const nb::gil_scoped_release released;
        stream_.emplace(*session_, typed_->op, std::move(input), std::move(options));
        warnings_ = stream_->warnings();
    }
    ~PyStream() { close(); }
    PyStream(const PyStream&) = delete;
    PyStream& operator=(const PyStream&) = delete;

    /// Returns the results of the next segments as a tuple of arrays. Throws stop_iteration when there are no
    /// more.
    nb::object next()
    {
        {
            const std::lock_guard lock(mutex_);
            if (!thread_.joinable() && !is_done_)
                thread_ = std::thread([this] { run(); });
        }
        while (!wait_a_little())
            if (PyErr_CheckSignals() != 0)
                throw nb::python_error();
        std::optional<Results> results;
        {
            const std::lock_guard lock(mutex_);
            results = std::exchange(ready_, std::nullopt);
            changed_.notify_all();
        }
        warn_of_caches();
        if (results)
            return arrays_of(std::move(*results));
        close();
        std::exception_ptr failure;
        {
            const std::lock_guard lock(mutex_);
            failure = std::exchange(failure_, nullptr);
        }
        if (failure)
            std::rethrow_exception(failure);
        throw nb::stop_iteration();
    }

    /// Ends the work and discards its results. Several threads may call this at once; all of them wait until
    /// the work has ended. Does not wait if an iterable closes the stream that reads it.
    void close()
    {
        const nb::gil_scoped_release released;
        {
            const std::lock_guard lock(mutex_);
            *closed_ = true;
            changed_.notify_all();
        }
        stopper_->stop();
        if (reading == closed_.get())
            return;
        const std::lock_guard ending(ending_);
        if (thread_.joinable())
            thread_.join();
        {
            const std::lock_guard lock(mutex_);
            is_done_ = true;
        }
        stream_.reset();  // mutex_ is released, because the stream's iterators take the interpreter's lock
    }

    /// Requests the end of the work and waits a moment. Returns false if the work has not ended by then,
    /// because an iterator has not answered; the caller must then call close() later.
    bool leave()
    {
        const nb::gil_scoped_release released;
        stopper_->stop();
        std::unique_lock lock(mutex_);
        *closed_ = true;
        changed_.notify_all();
        return changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return is_done_; });
    }

    /// True if the work is done. close() then returns at once.
    [[nodiscard]] bool is_done()
    {
        const nb::gil_scoped_release released;
        const std::lock_guard lock(mutex_);
        return is_done_;
    }

    [[nodiscard]] std::vector<std::string> names() const
    {
        std::vector<std::string> names(has_keys_ ? 1 : 0, "keys");
        for (const auto& field : typed_->fields)
            names.push_back(field.name);
        return names;
    }
    /// Gives the warnings that are known and have not been given yet.
    void warn_of_news()
    {
        std::vector<std::string> texts;
        {
            const nb::gil_scoped_release released;
            const std::lock_guard lock(mutex_);
            texts = warnings_;
        }
        warn(texts, &typed_->told);
    }

private:
    /// Runs the stream, in its own thread and without the interpreter's lock.
    void run()
    {
        std::exception_ptr failure;
        const WorkStopper::Here here(stopper_);
        try {
            stream_->run([&](StreamResults&& results, const StreamState& state) {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return *closed_ || !ready_; });
                if (*closed_)
                    throw Stopped();
                if (results.num_segments == 0 && !state.is_end &&
                    (results.running.empty() || results.num_elements == 0))
                    return;
                if (!has_keys_)
                    results.results.keys.reset();
                for (auto& output : results.running)
                    results.results.push_back(std::move(output));
                ready_ = std::move(results.results);
                warnings_ = stream_->warnings();
                changed_.notify_all();
            });
        } catch (const Stopped&) {
            // The stream was closed, so nobody is waiting for results.
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        warnings_ = stream_->warnings();
        failure_ = failure;
        is_done_ = true;
        changed_.notify_all();
    }

    bool wait_a_little()
    {
        const nb::gil_scoped_release released;
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return ready_ || is_done_; });
    }

    static nb::object arrays_of(Results&& results)
    {
        if (results.keys)
            results.insert(results.begin(), {"keys", std::move(*results.keys)});
        results.keys.reset();
        const auto count = results.empty() ? 0 : static_cast<std::int64_t>(results.front().array.length());
        const auto folded = std::make_shared<const Folded>(std::move(results), count);
        nb::list arrays;
        for (const auto& result : folded->results())
            arrays.append(host_array(Kind::numpy, result.array, folded));
        return nb::tuple(arrays);
    }

    std::shared_ptr<Session> session_;
    std::shared_ptr<TypedOperator> typed_;
    bool has_keys_;  ///< true if the results include the keys of segments
    std::optional<Stream> stream_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Results> ready_;
    std::vector<std::string> warnings_;
    Closed closed_;  ///< true after the stream was closed; set while mutex_ is held
    /// Stops the work when the stream is closed.
    std::shared_ptr<WorkStopper> stopper_ = std::make_shared<WorkStopper>();
    bool is_done_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
    std::mutex ending_;  ///< held by the thread that is waiting for the work to end
};

std::unique_ptr<PyStream> stream(PyOperator& op, const nb::list& columns, const std::string& layout,
                                 std::int64_t uniform, const nb::object& marks,
                                 std::optional<std::int64_t> num_groups, bool sorts,
                                 std::optional<std::int64_t> num_elements, std::int64_t memory,
                                 const std::string& backend, std::optional<int> device,
                                 std::optional<std::string> stage, bool is_reproducible,
                                 const nb::object& assume)
{
    const auto& parameters = op.parameters();
    if (columns.size() != parameters.size())
        throw InputError(fmt::format("{} columns and tables are given; operator {} takes {}", columns.size(),
                                     op.name(), op.signature()));
    if (const auto reason = reason_against_streams(
            op.example(), layout == "groups" || layout == "by" ? LayoutKind::groups : LayoutKind::whole);
        !reason.empty())
        throw InputError(reason + "; fold it in one piece, by a call of the operator");
    const auto closed = std::make_shared<std::atomic<bool>>(false);
    StreamInput input;
    std::optional<Type> generic;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto& parameter = parameters[i];
        input.parameters.emplace_back();
        if (parameter.scalar)
            continue;
        input.parameters.back() = source_of(nb::cast<nb::tuple>(columns[i]), parameter.name, parameter.type,
                                            parameter.table ? std::nullopt : num_elements, closed);
        if (!parameter.type && !generic)
            generic = input.parameters.back()->type();
    }
    const auto typed =
        op.is_generic() ? op.typed_pointer(generic.value_or(op.types().front())) : op.fixed_pointer();
    const auto& checked = typed->op;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].scalar)
            input.parameters[i] = std::make_unique<LentArray>(ArrayIn::scalar(
                nb::cast<nb::tuple>(columns[i])[1], parameters[i].name, checked.parameters[i].type));
    input.segments.uniform_length = uniform;
    input.segments.kind = layout == "uniform"   ? LayoutKind::uniform
                          : layout == "offsets" ? LayoutKind::offsets
                          : layout == "lengths" ? LayoutKind::lengths
                          : layout == "flags"   ? LayoutKind::flags
                          : layout == "keys"    ? LayoutKind::keys
                          : layout == "groups"  ? LayoutKind::groups
                          : layout == "by"      ? LayoutKind::groups
                                                : LayoutKind::whole;
    input.segments.groups.num_groups = num_groups;
    if (layout == "by")
        input.segments.groups.order = sorts ? KeyOrder::ascending : KeyOrder::first;
    if (!marks.is_none()) {
        input.segments.array =
            source_of(nb::cast<nb::tuple>(marks), layout, std::nullopt,
                      layout == "offsets" || layout == "lengths" ? std::nullopt : num_elements, closed);
        if (const auto* const array = array_of(input.segments.array);
            array != nullptr && array->lists() != nullptr)
            throw InputError(fmt::format("'{}' holds lists, and numbers are needed", layout));
    }
    take_lists(input, checked, layout);
    StreamOptions options;
    options.memory_bytes = memory;
    options.plan.stage = std::move(stage);
    options.plan.is_reproducible = is_reproducible;
    SessionChoice choice;
    choice.backend = backend;
    choice.device = device;
    choice.assume = assumed_laws(assume);
    return std::make_unique<PyStream>(session_of(choice), typed, std::move(input), std::move(options),
                                      closed);
}

}  // namespace

void bind_stream(nb::module_& module)
{
    nb::class_<PyStream>(module, "Stream", nb::is_weak_referenceable(),
                         "What :func:`segfold.stream` works with: tuples of arrays, one after the other.")
        .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
        .def("__next__", &PyStream::next)
        .def("close", &PyStream::close, "Ends the work; what was not taken is lost.")
        .def("leave", &PyStream::leave,
             "Lets the work end by itself, when the iterable has given what it is asked for. True where it "
             "has.")
        .def_prop_ro("is_done", &PyStream::is_done, "Whether ``close`` would wait for nothing.")
        .def_prop_ro("names", &PyStream::names, "The arrays of each tuple.")
        .def("warn_of_news", &PyStream::warn_of_news, "Warns of what was not told yet.");
    module.def("open_stream", &stream, nb::arg("operator"), nb::arg("columns"), nb::arg("layout"),
               nb::arg("uniform"), nb::arg("marks").none(), nb::arg("num_groups").none(), nb::arg("sort"),
               nb::arg("num_elements").none(), nb::arg("memory"), nb::arg("backend"),
               nb::arg("device").none(), nb::arg("stage").none(), nb::arg("reproducible"), nb::arg("assume"),
               "What :func:`segfold.stream` calls.");
}

}  // namespace segfold::python
