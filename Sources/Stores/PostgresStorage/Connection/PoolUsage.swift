/// Use of the connections to the server by this process.
public struct PoolUsage: Sendable, Equatable {
    /// Number of open connections, without the one for announcements.
    public let open: Int
    /// Number of connections that work for a caller.
    public let inUse: Int
    /// Number of callers that wait for a connection.
    public let waiting: Int
    /// Number of sessions opened since the start. It grows with each connection that is opened again.
    public let connects: Int64
}
