import AppleAccounts
import HTTPAPI
import Logging
import TestSupport
import Testing

@testable import siwa

/// Log lines and metrics when the database fails transactions.
@Suite struct StorageFailuresTests {
    @Test func `each cause is logged at once, with the database's words, and then once a minute`() throws {
        let log = HealthMonitorTests.Log()
        let observation = ProcessObservation(level: .notice) { log.add($0) }
        let clock = ManualClock()
        let failures = StorageFailures(
            logger: observation.logger, factory: observation.registry,
            now: { Moment(milliseconds: clock.millisecondsSince1970) })
        let full = StorageError(.full, detail: "PostgreSQL 53100: could not extend file a insert_event")
        for _ in 0..<60_000 {
            failures.record(full)
            clock.advance(by: .milliseconds(1))
        }
        failures.record(
            StorageError(.full, detail: "PostgreSQL 53100: could not extend file b insert_ticket"))
        failures.record(StorageError(.busy, detail: "PostgreSQL 55P03: lock_subjects"))
        observation.sink.flush()
        #expect(log.lines.count == 3, "\(log.lines)")
        #expect(log.lines[0].contains("cause=full") && log.lines[0].contains("PostgreSQL 53100"))
        #expect(log.lines[1].contains("left_out=59999"))
        #expect(log.lines[2].contains("55P03"))
    }

    @Test func `counts every cause that a transaction can fail with`() {
        let ends: Set<StorageError.Code> = [.schemaTooNew, .migrationFailed, .valueRefused]
        #expect(Set(StorageFailures.causes) == Set(StorageError.Code.allCases).subtracting(ends))
    }
}
