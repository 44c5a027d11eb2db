import Dispatch
import EventDelivery
import Synchronization
import TestSupport
import Testing

@testable import siwa

@Suite(.timeLimit(.hung)) struct AddressResolverTests {
    @Test func `the system knows this machine, and addresses`() async throws {
        let resolver = SystemAddressResolver()
        #expect(try await resolver.addresses(of: "127.0.0.1") == ["127.0.0.1"])
        #expect(try await resolver.addresses(of: "::1") == ["::1"])
        #expect(try await resolver.addresses(of: "no-such-name.invalid").isEmpty)
    }

    @Test func `receivers of one name share one question, and all get its answer`() async throws {
        let questions = Mutex(0)
        let mayAnswer = DispatchSemaphore(value: 0)
        let resolver = SystemAddressResolver { _ in
            questions.withLock { $0 += 1 }
            mayAnswer.wait()
            return ["192.0.2.1"]
        }
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 { group.addTask { try await resolver.addresses(of: "receiver.invalid") } }
            try await eventually { resolver.waiterCount == 8 }
            mayAnswer.signal()
            for try await addresses in group { #expect(addresses == ["192.0.2.1"]) }
        }
        #expect(questions.withLock { $0 } == 1)
    }

    @Test func `a name server that hangs delays its own names only, for four seconds`() async throws {
        let mayAnswer = DispatchSemaphore(value: 0)
        let resolver = SystemAddressResolver { host in
            if host == "hangs.invalid" { mayAnswer.wait() }
            return ["192.0.2.1"]
        }
        let hanging = Task { try await resolver.addresses(of: "hangs.invalid") }
        try await eventually { resolver.waiterCount == 1 }
        #expect(try await resolver.addresses(of: "other.invalid") == ["192.0.2.1"])
        await #expect(throws: DeliveryError(.timedOut)) { _ = try await hanging.value }
        mayAnswer.signal()
    }
}
