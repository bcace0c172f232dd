/// A value that one thread at a time may use, because a lock or a pool gives it to one after the other.
///
/// The compiler can't see that an object which was taken from a ``Guarded`` value comes back before anybody else gets it.
///
/// Unchecked, no lock of its own: the `Guarded` lock of the pool that keeps the value hands it to one thread at a time.
package struct Lent<Value>: @unchecked Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
