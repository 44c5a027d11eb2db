import AppleAccounts
import Foundation
import PostgresStorage
import SignIn

/// Whether the database can be read, is of this version, and fits the rest of the configuration: its apps are configured, and
/// what is sealed in it opens. The service may be running.
struct DatabaseCheck: DoctorCheck {
    static let name = "database"

    let settings: ServiceSettings

    func examine() async -> [Finding] {
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
            let cause = (error as? StorageError).map { ": \(Complaint.words(for: $0))" } ?? " cannot be read"
            return [.wrong(Self.name, settings.database.place + cause, advice: advice)]
        }
    }

    private var advice: String {
        switch settings.database {
        case .sqlite:
            "See that DATABASE_URL names the right file, that the user that runs siwa may read and write it and its "
                + "directory, and that the disk is sound."
        case .postgres:
            "See that PostgreSQL runs there and can be reached, that DATABASE_URL has the right database, user and "
                + "password, and that pg_hba.conf lets them in."
        }
    }

    private func server(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        guard let inspection = inspection as? PostgresInspection else { return [] }
        // One more than in the pool hears of the other replicas' commits.
        return PostgresServerCheck(
            server: try await inspection.server(), connections: settings.databaseConnections + 1
        ).findings
    }

    private func missing(_ path: String) -> Finding {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return FileManager.default.isWritableFile(atPath: directory)
            ? .note(Self.name, "\(path) is not there yet; siwa serve makes it")
            : .wrong(
                Self.name, "\(path) is not there, and cannot be made",
                advice: "Make the directory \(directory), and let it belong to the user that runs siwa.")
    }

    private func examine(_ inspection: any DatabaseInspection) async throws -> [Finding] {
        let place = settings.database.place
        switch try await inspection.schema() {
        case .empty: return [.note(Self.name, "\(place) is empty; siwa serve makes what it needs")]
        case .foreign:
            return [
                .wrong(
                    Self.name, "\(place) is another program's database",
                    advice: "Let DATABASE_URL name a database of its own.")
            ]
        case .older:
            return [.note(Self.name, "\(place) is of an older version; siwa serve brings it up to date")]
        case .newer:
            return [
                .wrong(
                    Self.name, "\(place) was written by a newer version of siwa",
                    advice: "Install that version again, or a newer one.")
            ]
        case .present:
            let apps = unknownApps(try await inspection.primaryClientIDs())
            let files = DatabaseFiles(settings.database)?.finding ?? .good(Self.name, place)
            return [files] + apps + (try await sealedValues(inspection))
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
                    advice: "Add that key to SIWA_SEALING_KEYS again. siwa reseal frees you of it afterwards."
                ))
        }
        if sample.damaged > 0 {
            findings.append(
                .wrong(
                    SealingKeysCheck.name, "\(sample.damaged) of \(sample.count) stored values do not open",
                    advice:
                        "The key of that name was another one when they were sealed, or they were changed. Put the "
                        + "right key in its place; a key's name must never change its key."))
        }
        return findings.isEmpty ? [.good(SealingKeysCheck.name, "what is stored opens")] : findings
    }
}
