import HTTPEngine
import NIOCore
import NIOPosix

/// Tries to listen on addresses before a command opens a database or starts a server, so that the error is the
/// only line of its output.
///
/// Another program can take an address after the trial: then the server itself fails, with the same error.
enum ListenTrial {
    /// - Parameter addresses: An address with port 0 is not tried, because the system chooses its port.
    /// - Throws: `ListenError` for the first address on which the server could not listen.
    static func run(on addresses: [(host: String, port: Int)]) async throws {
        for (host, port) in addresses where port != 0 {
            do {
                let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: host, port: port).get()
                try await channel.close()
            } catch {
                throw ListenError(host: host, port: port, cause: error)
            }
        }
    }
}
