/// One map function's rows, and the reduce functions over them.
package struct ViewDefinition: Sendable {
    /// The reduce functions, in order.
    package let reducers: [any ViewReducer]

    /// Makes a definition.
    package init(reducers: [any ViewReducer]) { self.reducers = reducers }
}
