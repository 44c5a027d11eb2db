import AppleAccounts
import Foundation
import JOSE
import SQLiteStorage
import SignIn

/// Whether the database can be read, is of this version, and fits the rest of the configuration: its apps are configured, and
/// what is sealed in it opens. The service may be running.
struct DatabaseCheck: DoctorCheck {
    static let name = "database"

    let settings: ServiceSettings

    /// How many sealed values are tried. All of them is what `siwa reseal --dry-run` does.
    private static let sample = 200

    func examine() async -> [Finding] {
        guard case .sqlite(let path) = settings.database else { return [] }
        guard FileManager.default.fileExists(atPath: path) else { return [missing(path)] }
        do {
            let inspection = try settings.database.inspection()
            let findings = try await examine(inspection, path: path)
            await inspection.close()
            return findings
        } catch let error as StorageError {
            return [
                .wrong(
                    Self.name, "\(path): \(Complaint.words(for: error))",
                    advice:
                        "See that DATABASE_URL names the right file, that the user that runs siwa may read and write "
                        + "it and its directory, and that the disk is sound.")
            ]
        } catch {
            return [
                .wrong(
                    Self.name, "\(path) cannot be read", advice: "See that DATABASE_URL names the right file."
                )
            ]
        }
    }

    private func missing(_ path: String) -> Finding {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return FileManager.default.isWritableFile(atPath: directory)
            ? .note(Self.name, "\(path) is not there yet; siwa serve makes it")
            : .wrong(
                Self.name, "\(path) is not there, and cannot be made",
                advice: "Make the directory \(directory), and let it belong to the user that runs siwa.")
    }

    private func examine(_ inspection: SQLiteInspection, path: String) async throws -> [Finding] {
        let known = SQLiteInspection.knownSchemaVersion
        switch try await inspection.schemaVersion() {
        case nil:
            return [
                .wrong(
                    Self.name, "\(path) is another program's database",
                    advice: "Let DATABASE_URL name a file of its own.")
            ]
        case let version? where version > known:
            return [
                .wrong(
                    Self.name, "\(path) was written by a newer version of siwa",
                    advice: "Install that version again, or a newer one.")
            ]
        case let version? where version < known:
            return [.note(Self.name, "\(path) is of an older version; siwa serve brings it up to date")]
        case _?:
            let apps = unknownApps(try await inspection.primaryClientIDs())
            return [.good(Self.name, path)] + apps + (try await sealedValues(inspection))
        }
    }

    private func unknownApps(_ stored: [ClientID]) -> [Finding] {
        let primary = Set(settings.deployment.apps.map(\.primaryClientID))
        return stored.filter { !primary.contains($0) }.map { clientID in
            settings.deployment.app(for: clientID) != nil
                ? .wrong(
                    Self.name,
                    "accounts are stored for \(clientID.rawValue) as the primary App ID, and now it is not the first",
                    advice:
                        "Put \(clientID.rawValue) first in its app's client IDs again: otherwise its users are "
                        + "strangers.")
                : .wrong(
                    Self.name, "accounts are stored for \(clientID.rawValue), which is not configured",
                    advice:
                        "Add it to the client IDs, or erase its accounts before you give it up: nothing is asked "
                        + "or revoked at Apple for them now.")
        }
    }

    private func sealedValues(_ inspection: SQLiteInspection) async throws -> [Finding] {
        let rows = try await inspection.sealedSecrets(after: nil, limit: Self.sample)
        guard !rows.isEmpty else { return [] }
        var unknown: Set<String> = []
        var damaged = 0
        for row in rows {
            let data = row.purpose.associatedData(of: row.accountID, clientID: row.clientID)
            guard let keys = settings.sealingKeys else {
                unknown.insert(SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?")
                continue
            }
            do throws(SealError) {
                _ = try keys.open(row.sealed.bytes, associatedData: data)
            } catch {
                switch error.code {
                case .unknownKey: unknown.insert(SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?")
                case .malformed, .authenticationFailed: damaged += 1
                }
            }
        }
        var findings: [Finding] = []
        if !unknown.isEmpty {
            findings.append(
                .wrong(
                    SealingKeysCheck.name,
                    "refresh tokens are sealed by \(unknown.sorted().joined(separator: ", ")), which is not configured",
                    advice: "Add that key to SIWA_SEALING_KEYS again. siwa reseal frees you of it afterwards."
                ))
        }
        if damaged > 0 {
            findings.append(
                .wrong(
                    SealingKeysCheck.name, "\(damaged) of \(rows.count) stored values do not open",
                    advice:
                        "The key of that name was another one when they were sealed, or they were changed. Put the "
                        + "right key in its place; a key's name must never change its key."))
        }
        return findings.isEmpty ? [.good(SealingKeysCheck.name, "what is stored opens")] : findings
    }
}
