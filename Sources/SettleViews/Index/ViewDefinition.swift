package import SettleDatabase

/// One map function's rows, and the reduce functions over them.
package struct ViewDefinition: Sendable {
    /// The reduce functions, in order.
    package let reducers: [any ViewReducer]

    /// The order of its keys.
    package let order: KeyOrder

    /// Makes a definition.
    package init(reducers: [any ViewReducer], order: KeyOrder = .collation) {
        self.reducers = reducers
        self.order = order
    }
}
