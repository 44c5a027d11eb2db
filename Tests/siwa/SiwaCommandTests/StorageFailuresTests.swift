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

    @Test func `counts the database's codes, and those past a bound together`() throws {
        let observation = ProcessObservation(level: .critical) { _ in }
        let failures = StorageFailures(
            logger: observation.logger, factory: observation.registry, now: { Moment(milliseconds: 0) })
        // A rate finds the first failure only if there was a sample before it.
        let begun = String(decoding: observation.registry.text(), as: UTF8.self)
        for code in StorageFailures.usualCodes {
            #expect(begun.contains("siwa_storage_errors_total{code=\"\(code)\"} 0\n"))
        }
        failures.record(StorageError(.full, detail: "", databaseCode: "53100"))
        failures.record(StorageError(.full, detail: "", databaseCode: "53100"))
        failures.record(StorageError(.unavailable, detail: ""))
        // The fault of a value is none of the database.
        failures.record(StorageError(.valueRefused, detail: "", databaseCode: "23505"))
        for number in 0..<100 {
            failures.record(StorageError(.unavailable, detail: "", databaseCode: "X\(number)"))
        }
        let text = String(decoding: observation.registry.text(), as: UTF8.self)
        #expect(text.contains("siwa_storage_errors_total{code=\"53100\"} 2\n"))
        #expect(text.contains("siwa_storage_errors_total{code=\"none\"} 1\n"))
        #expect(!text.contains("23505"))
        // 32 with a name, of which those of the runbook are taken from the start.
        #expect(text.contains("siwa_storage_errors_total{code=\"other\"} 76\n"))
    }
}
