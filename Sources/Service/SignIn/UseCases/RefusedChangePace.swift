import AppleAccounts
import Synchronization

/// Bounds the rows of the audit log about changes that an API key may not make: such a key can repeat a refused
/// change without end. Counted in memory, for each API key of the configuration.
final class RefusedChangePace: Sendable {
    /// Number of rows of one API key within an hour, at one replica.
    static let most = 20
    /// Milliseconds: an hour.
    static let window: Int64 = 3_600_000

    private struct Hour {
        var begunAt: Moment
        var count = 0
    }

    private let hours = Mutex<[String: Hour]>([:])

    /// Makes a change. Above the bound a refusal leaves no row.
    ///
    /// A place is taken before the change and given back unless the change is refused, so that requests at the
    /// same time do not exceed the bound.
    func limiting<Value>(
        _ scope: AppScope, at moment: Moment, _ change: () async throws -> Value
    ) async throws -> Value {
        // A key for all apps is never refused.
        guard scope != .all else { return try await change() }
        let origin = AuditOrigin.current
        let key = origin.actor.name ?? ""
        guard takePlace(of: key, at: moment) else {
            return try await AuditOrigin.$current.withValue(origin.withoutRefusals, operation: change)
        }
        do {
            let value = try await change()
            giveBack(to: key)
            return value
        } catch let refusal as AccountRefusal where refusal.code == .callerForbidden {
            throw refusal
        } catch {
            giveBack(to: key)
            throw error
        }
    }

    private func takePlace(of key: String, at moment: Moment) -> Bool {
        hours.withLock { hours in
            var hour = hours[key] ?? Hour(begunAt: moment)
            if moment >= hour.begunAt.advanced(byMilliseconds: Self.window) { hour = Hour(begunAt: moment) }
            defer { hours[key] = hour }
            guard hour.count < Self.most else { return false }
            hour.count += 1
            return true
        }
    }

    private func giveBack(to key: String) {
        hours.withLock { hours in
            guard let count = hours[key]?.count, count > 0 else { return }
            hours[key]?.count = count - 1
        }
    }
}
