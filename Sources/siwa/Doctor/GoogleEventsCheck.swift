import AppleAccounts
import AsyncHTTPClient

/// Checks that Google's security events arrive: asks Google for the registration where a service account is
/// configured, and the database for the last event.
struct GoogleEventsCheck: DoctorCheck {
    let settings: ServiceSettings
    let client: HTTPClient
    let secondsSince1970: @Sendable () -> Int64

    func run() async -> [Finding] {
        guard let url = settings.googleEventsURL else { return [] }
        return [
            GoogleEventsDiagnosis(registration: await registration(of: url), lastEvent: await lastEvent())
                .finding
        ]
    }

    /// Returns `nil` without a service account.
    private func registration(of url: String) async -> Result<EventRegistration, EventStreamError>? {
        guard let file = settings.googleServiceAccountFile else { return nil }
        do throws(EventStreamError) {
            let context = try EventStreamContext(
                key: try ServiceAccountKey(file: file), endpoints: settings.googleEndpoints, url: url,
                location: nil, http: client, secondsSince1970: secondsSince1970)
            return .success(
                try await EventRegistration(of: context.client, expectedURL: context.receiverURL()))
        } catch {
            return .failure(error)
        }
    }

    private func lastEvent() async -> GoogleEventsDiagnosis.LastEvent {
        guard let inspection = try? settings.database.inspection() else { return .unknown }
        let last = try? await Self.lastEvent(in: inspection)
        await inspection.close()
        return last ?? .unknown
    }

    private static func lastEvent(
        in inspection: any DatabaseInspection
    ) async throws -> GoogleEventsDiagnosis.LastEvent {
        guard try await inspection.schema() == .present else { return .unknown }
        guard let moment = try await inspection.lastGoogleEvent() else { return .absent }
        return .at(moment)
    }
}
