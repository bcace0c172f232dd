package import SettleDatabase

/// The definition of one view: the reduce functions over its rows, and the order of its keys.
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
