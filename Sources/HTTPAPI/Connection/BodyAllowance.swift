import Synchronization

/// Bounds what all connections together hold of bodies that are not complete.
///
/// The first bytes of a body are free, so that usual requests neither touch the shared count nor are ever refused by
/// it. Without the bound each of some thousand clients without a key could make the service keep 64 KiB.
final class BodyAllowance: Sendable {
    /// What a body may hold without a share.
    static let free = 8 * 1024

    private let most: Int
    private let held = Atomic<Int>(0)

    init(most: Int) {
        self.most = most
    }

    /// What one body holds beyond the free bytes. Gives it back with its end.
    final class Share {
        private let allowance: BodyAllowance
        private var size = 0

        init(of allowance: BodyAllowance) {
            self.allowance = allowance
        }

        deinit {
            allowance.held.wrappingSubtract(size, ordering: .relaxed)
        }

        /// Returns whether there was room.
        func grow(to newSize: Int) -> Bool {
            guard newSize > size else { return true }
            let growth = newSize - size
            guard allowance.held.wrappingAdd(growth, ordering: .relaxed).newValue <= allowance.most else {
                allowance.held.wrappingSubtract(growth, ordering: .relaxed)
                return false
            }
            size = newSize
            return true
        }
    }
}
