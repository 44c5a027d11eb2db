import KeySets
import Synchronization

/// Apple's key endpoint: sends the configured response and counts its requests.
final class StubKeySetSource: KeySetSource {
    private let state = Mutex<(answer: AppleAnswer?, fetches: Int)>((nil, 0))

    var fetches: Int { state.withLock { $0.fetches } }

    func answer(_ answer: AppleAnswer) {
        state.withLock { $0.answer = answer }
    }

    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse {
        let answer = state.withLock { state in
            state.fetches += 1
            return state.answer
        }
        guard let answer else { throw KeySetFetchError(.unreachable) }
        return try answer.response()
    }
}
