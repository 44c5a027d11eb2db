import Synchronization

/// The shared record of a scripted server's connections.
final class ScriptedServerRecord: Sendable {
    let requests = Mutex<[String]>([])
    let connections = Mutex(0)
    let response: @Sendable (Int) -> ScriptedServer.Response

    init(response: @escaping @Sendable (Int) -> ScriptedServer.Response) {
        self.response = response
    }
}
