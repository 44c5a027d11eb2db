import Synchronization

/// Bounds how much memory all connections together use for incomplete bodies.
///
/// The first bytes of a body are not counted, so that usual requests neither touch the shared count nor are
/// refused because of it. Without the bound some thousand clients without an API key could make the service
/// hold 64 KiB for each of them.
final class BodyMemoryBudget: Sendable {
    /// Number of bytes of a body that are not counted.
    static let free = 8 * 1024

    private let most: Int
    private let held = Atomic<Int>(0)

    init(most: Int) {
        self.most = most
    }

    /// The memory of one body beyond the bytes that are not counted. Released at the end of its life.
    final class Reservation {
        private let budget: BodyMemoryBudget
        private var size = 0

        init(of budget: BodyMemoryBudget) {
            self.budget = budget
        }

        deinit {
            budget.held.wrappingSubtract(size, ordering: .relaxed)
        }

        /// Returns `false` when the bound is reached.
        func grow(to newSize: Int) -> Bool {
            guard newSize > size else { return true }
            let growth = newSize - size
            guard budget.held.wrappingAdd(growth, ordering: .relaxed).newValue <= budget.most else {
                budget.held.wrappingSubtract(growth, ordering: .relaxed)
                return false
            }
            size = newSize
            return true
        }
    }
}
