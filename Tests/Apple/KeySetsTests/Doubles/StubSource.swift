import KeySets
import Synchronization

/// A source with responses of the test, which records the requests.
final class StubSource: KeySetSource {
    private let asked = Mutex<[String?]>([])
    private let answer: @Sendable (_ number: Int) async throws -> KeySetResponse

    init(_ answer: @escaping @Sendable (_ number: Int) async throws -> KeySetResponse) {
        self.answer = answer
    }

    convenience init(_ response: KeySetResponse) {
        self.init { _ in response }
    }

    /// The entity tags of the requests, one for each fetch.
    var entityTags: [String?] { asked.withLock { $0 } }
    var fetchCount: Int { entityTags.count }

    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse {
        let number = asked.withLock { asked in
            asked.append(entityTag)
            return asked.count
        }
        return try await answer(number)
    }
}
