import AppAttestation
import AppleAccounts
import AuthorizationServer
import Cryptography
import Foundation
import KeySets
import OAuth
import PostgresStorage
import SignIn

/// Checks that the database is readable, has this version's schema, and matches the configuration: the apps
/// with stored data are configured, and the sealed values can be decrypted. The check can run while the
/// service runs.
struct DatabaseCheck: DoctorCheck {
    static let name = "database"

    let settings: ServiceSettings
    var secondsSince1970: @Sendable () -> Int64 = { SystemKeySetClock().millisecondsSince1970 / 1000 }

    func run() async -> [Finding] {
        if case .sqlite(let path) = settings.database, !FileManager.default.fileExists(atPath: path) {
            return [missing(path)]
        }
        do {
            let inspection = try settings.database.inspection()
            do {
                let findings = try await server(inspection) + examine(inspection)
                await inspection.close()
                return findings
            } catch {
                await inspection.close()
                throw error
            }
        } catch {
            let cause =
                (error as? StorageError).map { ": \(ErrorMessage.text(for: $0))" } ?? " cannot be read"
            return [.wrong(Self.name, settings.database.place + cause, advice: advice)]
        }
    }

    private var advice: String {
        switch settings.database {
        case .sqlite:
            "Check that DATABASE_URL names the right file, that the user that runs siwa may read and write it and its "
                + "directory, and that the disk is not damaged."
        case .postgres:
            "Check that PostgreSQL runs there and can be reached, that DATABASE_URL has the right database, user and "
                + "password, and that pg_hba.conf allows the connection."
        }
    }

    private func server(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        guard let inspection = inspection as? PostgresInspection else { return [] }
        // In addition to the pool, one connection listens for other replicas' commits.
        return PostgresServerCheck(
            server: try await inspection.server(), connections: settings.numbers[.databaseConnections] + 1
        ).findings
    }

    private func missing(_ path: String) -> Finding {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return FileManager.default.isWritableFile(atPath: directory)
            ? .note(Self.name, "\(path) does not exist yet; siwa serve creates it")
            : .wrong(
                Self.name, "\(path) does not exist and cannot be created",
                advice: "Create the directory \(directory), owned by the user that runs siwa.")
    }

    private func examine(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        let place = settings.database.place
        switch try await inspection.schema() {
        case .empty: return [.note(Self.name, "\(place) is empty; siwa serve creates its tables")]
        case .foreign:
            return [
                .wrong(
                    Self.name, "\(place) is the database of another program",
                    advice: "Set DATABASE_URL to a separate database.")
            ]
        case .older:
            return [.note(Self.name, "\(place) has the schema of an older version; siwa serve migrates it")]
        case .newer:
            return [
                .wrong(
                    Self.name, "\(place) was written by a newer version of siwa",
                    advice: "Install that version or a newer one.")
            ]
        case .present:
            let apps = unknownApps(try await inspection.primaryClientIDs())
            let files = DatabaseFiles(settings.database)?.finding ?? .good(Self.name, place)
            return [files] + apps + (try await sealedValues(inspection)) + (try await tokenKeys(inspection))
                + (try await appCheck(inspection)) + (try await receivers(inspection))
        }
    }

    private func unknownApps(_ stored: [ClientID]) -> [Finding] {
        let primary = Set(settings.deployment.apps.map(\.primaryClientID))
        return stored.filter { !primary.contains($0) }.map { clientID in
            settings.deployment.app(for: clientID) != nil
                ? .wrong(
                    Self.name,
                    "accounts are stored for \(clientID.rawValue) as the primary App ID, but it is no longer the first client ID",
                    advice:
                        "Put \(clientID.rawValue) first in its app's client IDs again: otherwise its users get "
                        + "new accounts.")
                : .wrong(
                    Self.name, "accounts are stored for \(clientID.rawValue), which is not configured",
                    advice:
                        "Add it to the client IDs, or erase its accounts before you remove it: their refresh "
                        + "tokens are neither checked nor revoked at Apple now.")
        }
    }

    private func sealedValues(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        let sample = SealedSample(
            try await inspection.sealedSecrets(after: nil, limit: SealedSample.size),
            keys: settings.sealingKeys)
        guard sample.count > 0 else { return [] }
        var findings: [Finding] = []
        if !sample.unknownKeys.isEmpty {
            let names = sample.unknownKeys.sorted().joined(separator: ", ")
            findings.append(
                .wrong(
                    SealingKeysCheck.name,
                    "refresh tokens are sealed by \(names), which is not configured",
                    advice: "Add that key to SIWA_SEALING_KEYS again. After siwa reseal you can remove it."
                ))
        }
        if sample.damaged > 0 {
            findings.append(
                .wrong(
                    SealingKeysCheck.name,
                    "\(sample.damaged) of \(sample.count) stored values cannot be decrypted",
                    advice:
                        "They were sealed by another key with the same name, or they were changed. Configure the "
                        + "right key; never reuse the name of a key for another one."))
        }
        return findings.isEmpty ? [.good(SealingKeysCheck.name, "stored values can be decrypted")] : findings
    }

    /// Checks the stored token-signing keys. Skipped if the service signs no tokens, because it has neither
    /// OAuth clients nor receivers of security event tokens.
    private func tokenKeys(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        guard settings.oauth != nil || settings.signsEvents, let keys = settings.sealingKeys else {
            return []
        }
        return TokenSigningKeysCheck(records: try await inspection.signingKeys(), keys: keys).findings
    }

    private func appCheck(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        let monitored = settings.appCheck.all.filter { $0.mode == .monitored }
        guard !monitored.isEmpty else { return [] }
        let now = secondsSince1970()
        let hours = try await inspection.appCheckHours(
            of: monitored.map(\.target), from: AppCheckHoursCheck.yesterday(at: now))
        return AppCheckHoursCheck(policies: settings.appCheck, hours: hours, now: now).findings
    }

    private func receivers(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        guard !settings.receiverNames.isEmpty else { return [] }
        return ReceiverStates(
            configured: settings.receiverNames, stored: try await inspection.receivers(),
            lastSequence: try await inspection.lastEventSequence()
        ).findings
    }
}

/// Checks that the service can write the files of a SQLite database: the database, its write-ahead log, and
/// the lock file that excludes a second process. A command that ran as another user can leave files that the
/// service cannot open.
struct DatabaseFiles {
    private let path: String

    /// Returns `nil` if the database is not a file.
    init?(_ location: DatabaseLocation) {
        guard case .sqlite(let path) = location else { return nil }
        self.path = path
    }

    /// The failure; `nil` if all files are writable.
    var finding: Finding? {
        let owner = Self.owner(of: path)
        for file in [path, path + "-wal", path + "-shm", path + ".lock"] {
            guard FileManager.default.fileExists(atPath: file) else { continue }
            let isWritable = FileManager.default.isWritableFile(atPath: file)
            // root can write every file, but the service runs as the database's owner.
            guard !isWritable || Self.owner(of: file) != owner else { continue }
            return .wrong(
                DatabaseCheck.name, "\(file) belongs to another user, so siwa serve cannot write it",
                advice: "Change its owner to the user that runs siwa serve: chown --reference=\(path) \(file)"
            )
        }
        return nil
    }

    private static func owner(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.ownerAccountID] as? Int
    }
}

/// Checks that the stored keys that sign the service's own tokens can be decrypted.
struct TokenSigningKeysCheck {
    static let name = "OAuth keys"

    let records: [SigningKeyRecord]
    let keys: SealingKeyRing

    var findings: [Finding] {
        let sealer = SigningKeySealer(keys: keys)
        var unknownKeys: Set<String> = []
        var damaged = 0
        for record in records {
            do {
                _ = try sealer.open(record)
            } catch let error as SealError where error.code == .unknownKey {
                unknownKeys.insert(SealingKeyRing.keyName(of: record.sealed.bytes) ?? "?")
            } catch {
                damaged += 1
            }
        }
        var findings: [Finding] = []
        if !unknownKeys.isEmpty {
            let names = unknownKeys.sorted().joined(separator: ", ")
            findings.append(
                .wrong(
                    Self.name, "keys that sign tokens are sealed by \(names), which is not configured",
                    advice: "Add that key to SIWA_SEALING_KEYS again. After siwa reseal you can remove it. "
                        + Self.consequence))
        }
        if damaged > 0 {
            findings.append(
                .wrong(
                    Self.name, "\(damaged) of \(records.count) keys that sign tokens cannot be decrypted",
                    advice: "They were sealed by another key with the same name, or they were changed. "
                        + "Configure the right key. " + Self.consequence))
        }
        guard findings.isEmpty else { return findings }
        return [
            records.isEmpty
                ? .note(Self.name, "none yet; siwa serve makes the keys that sign tokens")
                : .good(Self.name, "keys that sign tokens can be decrypted")
        ]
    }

    private static let consequence =
        "Until then siwa makes no new ones. If the sealing key is lost, run siwa reseal --retire-signing-keys: tokens "
        + "that they have signed end."
}
