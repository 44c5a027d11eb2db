/// The reason for which the service closes a connection that could stay open: to make room for others.
package enum EarlyCloseReason: Sendable, CaseIterable {
    /// The longest idle connection of the service, because the number of connections is near its limit.
    case crowded
    /// The longest idle connection of an address at its limit.
    case addressShare
    /// A new connection of an address at its limit, because no other connection of the address was idle.
    case refused
}
