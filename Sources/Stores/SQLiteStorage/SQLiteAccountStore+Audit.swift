public import AppleAccounts
import Foundation
import GRDB

extension SQLiteAccountStore: AuditStore {
    public func appendAudit(_ entries: [AuditEntry]) async throws {
        guard !entries.isEmpty else { return }
        try await writer.write { writer in
            let known = try entries.map { try writer.audit().withKnownPerson($0) }
            try writer.appendAudit(known)
        }
    }

    public func auditChain() async throws -> AuditChain {
        try await reader.read { try $0.audit().chain() }
    }

    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await reader.read { try $0.audit().rows(after: sequence, limit: limit) }
    }

    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        try await reader.read { try $0.audit().rows(before: sequence, of: account, limit: limit) }
    }

    public func auditSequence(at moment: Moment) async throws -> Int64 {
        try await reader.read { try $0.audit().sequence(at: moment) }
    }

    public func purgeAudit(before end: Moment, at now: Moment) async throws -> Int {
        try await writer.write { try $0.purgeAudit(before: end, at: now) }
    }

    public func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange] {
        try await writer.write { try $0.noteConfiguration(fingerprints, at: moment) }
    }

    public func configurationParts() async throws -> [SeenConfigurationPart] {
        try await reader.read { try $0.audit().configurationParts() }
    }
}
