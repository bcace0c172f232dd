/// The work would have had to wait where that is forbidden; nothing was changed.
package struct WouldWait: Error {
    package init() {}
}
