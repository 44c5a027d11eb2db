import AppleAccounts
import AsyncHTTPClient

/// Checks that Google's security events arrive. If a service account is configured, requests the registration
/// from Google; always reads the last event from the database.
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

    /// Requests the registration from Google; returns `nil` if no service account is configured.
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

/// Diagnoses the arrival of Google's security events from Google's response and the database.
struct GoogleEventsDiagnosis {
    static let name = "Google events"

    enum LastEvent: Equatable {
        case at(Moment)
        /// No event arrived within the event retention period.
        case absent
        /// The database is unreadable. Another check reports this.
        case unknown
    }

    /// The receiver's registration at Google, or the error; `nil` if the check did not request it.
    let registration: Result<EventRegistration, EventStreamError>?
    let lastEvent: LastEvent

    var finding: Finding {
        switch registration {
        case nil:
            guard case .at = lastEvent else {
                return .note(
                    Self.name, "\(last); whether Google sends events to this service is not known",
                    advice: Self.register + " With SIWA_GOOGLE_SERVICE_ACCOUNT_FILE siwa doctor asks Google.")
            }
            return .good(Self.name, "\(last); Google was not asked")
        case .success(let registration):
            guard let fault = registration.faultText else {
                return .good(Self.name, "registered, \(last)")
            }
            return .wrong(Self.name, "\(fault); \(last)", advice: Self.register)
        case .failure(let error):
            let lines = error.description.split(separator: "\n", maxSplits: 1)
            let text = "\(lines.first ?? ""); \(last)"
            switch error.code {
            case .unreachable, .throttled, .failed: return .skipped(Self.name, text)
            case .keyUnreadable, .keyMalformed, .keyMisdirected, .urlRefused, .responseMalformed,
                .requestRefused, .notAuthenticated, .apiDisabled, .forbidden, .streamMissing,
                .verificationMissing:
                return .wrong(
                    Self.name, text,
                    advice: lines.count > 1
                        ? String(lines[1]) : "See SIWA_GOOGLE_SERVICE_ACCOUNT_FILE in the documentation.")
            }
        }
    }

    private var last: String {
        switch lastEvent {
        case .at(let moment): "last event \(moment.rfc3339)"
        case .absent: "no event in the last 30 days"
        case .unknown: "the last event is not known"
        }
    }

    private static let register =
        "Google's console has no field for it: run siwa google risc register, then siwa google risc verify."
}
