import Testing

@testable import PostgresStorage

@Suite struct ConnectionGateTests {
    private let start = ContinuousClock.now

    private func isLetIn(_ gate: inout ConnectionGate<String>, after delay: Duration) -> Bool {
        switch gate.ask(at: start + delay) {
        case .connect: true
        case .fail: false
        }
    }

    @Test func `lets everybody try while nothing has failed`() {
        var gate = ConnectionGate<String>()
        #expect(isLetIn(&gate, after: .zero))
        #expect(isLetIn(&gate, after: .zero))
    }

    @Test func `lets one try after a pause, and tells the others of the failure`() {
        var gate = ConnectionGate<String>()
        gate.failed("gone", at: start, jitter: 1)
        #expect(!isLetIn(&gate, after: .milliseconds(49)))
        #expect(isLetIn(&gate, after: .milliseconds(50)))
        #expect(!isLetIn(&gate, after: .milliseconds(51)))
        guard case .fail("gone") = gate.ask(at: start + .seconds(60)) else {
            Issue.record("let in beside another")
            return
        }
        gate.succeeded()
        #expect(isLetIn(&gate, after: .milliseconds(60)))
    }

    @Test func `pauses for longer and longer, and never for long`() {
        var gate = ConnectionGate<String>()
        for _ in 0..<100 { gate.failed("gone", at: start, jitter: 1) }
        #expect(!isLetIn(&gate, after: .milliseconds(999)))
        #expect(isLetIn(&gate, after: .seconds(1)))
        gate.failed("gone", at: start, jitter: 0)
        #expect(!isLetIn(&gate, after: .milliseconds(499)))
        #expect(isLetIn(&gate, after: .milliseconds(500)))
    }
}
