import NIOCore
import Synchronization

/// The gate of each event loop.
final class AdmissionGates: Sendable {
    private let gates = Mutex<[ObjectIdentifier: NIOLoopBound<AdmissionGate>]>([:])
    private let bounds: AdmissionRule.Bounds

    init(bounds: AdmissionRule.Bounds) {
        self.bounds = bounds
    }

    /// Must be called on the loop.
    func gate(on eventLoop: any EventLoop) -> AdmissionGate {
        gates.withLock { gates in
            if let gate = gates[ObjectIdentifier(eventLoop)] { return gate }
            let gate = NIOLoopBound(
                AdmissionGate(eventLoop: eventLoop, bounds: bounds), eventLoop: eventLoop)
            gates[ObjectIdentifier(eventLoop)] = gate
            return gate
        }.value
    }
}
