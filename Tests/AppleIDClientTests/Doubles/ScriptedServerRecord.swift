import Synchronization

/// What a scripted server's connections share.
final class ScriptedServerRecord: Sendable {
    let requests = Mutex<[String]>([])
    let connections = Mutex(0)
    let answer: @Sendable (Int) -> ScriptedServer.Answer

    init(answer: @escaping @Sendable (Int) -> ScriptedServer.Answer) {
        self.answer = answer
    }
}
