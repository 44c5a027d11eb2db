import Synchronization

/// The shared record of a scripted server's connections.
final class ScriptedServerRecord: Sendable {
    let requests = Mutex<[String]>([])
    let connections = Mutex(0)
    let answer: @Sendable (Int) -> ScriptedServer.Answer

    init(answer: @escaping @Sendable (Int) -> ScriptedServer.Answer) {
        self.answer = answer
    }
}
