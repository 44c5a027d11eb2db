import EventDelivery
import Synchronization

@testable import siwa

/// Gives the addresses of its list one after the other, and the last again and again.
final class ScriptedResolver: AddressResolver {
    private let answers: Mutex<[[String]]>
    private let count = Mutex(0)

    init(_ answers: [String]...) {
        self.answers = Mutex(answers)
    }

    var questions: Int { count.withLock { $0 } }

    func addresses(of host: String) async throws(DeliveryError) -> [String] {
        count.withLock { $0 += 1 }
        return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
    }
}
