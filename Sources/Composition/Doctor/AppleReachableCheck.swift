import AppleIDClient
import AsyncHTTPClient
import Encodings
import HTTPAPI
import KeySets
import NIOCore
import NIOHTTP1

/// Checks that this machine can reach Apple.
struct AppleReachableCheck: DoctorCheck {
    static let name = "Apple"

    let endpoints: AppleEndpoints
    let response: AppleProbe.Response?

    func run() -> [Finding] {
        guard let response else {
            return [
                .wrong(
                    Self.name, "\(endpoints.baseURL) does not answer",
                    advice:
                        "Allow https connections from this machine to it, and check that DNS works and that the "
                        + "system's certificates (ca-certificates) are installed.")
            ]
        }
        guard response.status == 200 else {
            return [
                .wrong(
                    Self.name, "\(endpoints.keySet) answers with status \(response.status)",
                    advice:
                        "A proxy may have answered. If not, try again later, and look at Apple's status on "
                        + "developer.apple.com/system-status.")
            ]
        }
        guard endpoints == .apple else {
            return [.note(Self.name, "\(endpoints.baseURL) answers, which is not Apple (APPLE_BASE_URL)")]
        }
        return [.good(Self.name, "\(endpoints.baseURL) answers")]
    }
}

/// Checks that Apple's key set is usable.
struct KeySetCheck: DoctorCheck {
    static let name = "key set"

    let source: KeySource
    let response: AppleProbe.Response?

    func run() -> [Finding] {
        if case .pinned = source {
            return [
                .note(
                    Self.name, "pinned (APPLE_KEYS_FILE): Apple's new keys are not fetched",
                    advice:
                        "Apple changes its keys every few months: do not set APPLE_KEYS_FILE unless the service must "
                        + "work without a network.")
            ]
        }
        guard let response, response.status == 200 else {
            return [.skipped(Self.name, "Apple has not answered")]
        }
        do throws(PinnedKeySetError) {
            _ = try PinnedKeySet(parsing: response.body)
            return [.good(Self.name, "usable")]
        } catch {
            return [
                .wrong(
                    Self.name, "the response is not a usable key set (\(error.code.rawValue))",
                    advice: "A proxy or a captive portal may have answered; check the URL with curl.")
            ]
        }
    }
}

/// Fetches Apple's key set once, for several checks.
struct AppleProbe: Sendable {
    struct Response: Sendable {
        let status: Int
        let body: [UInt8]
        /// The response's `Date` header in seconds since 1970, if present.
        let date: Int64?
    }

    let endpoints: AppleEndpoints
    let client: HTTPClient

    /// Returns Apple's response; `nil` if no complete response arrived within the client's time limits.
    func fetch() async -> Response? {
        do {
            var request = HTTPClientRequest(url: endpoints.keySet)
            request.nameDoctor()
            let response = try await client.execute(request, timeout: .seconds(10))
            let body = try await response.body.collect(upTo: 65_536)
            return Response(
                status: Int(response.status.code), body: Array(buffer: body),
                date: response.headers.first(name: "Date").flatMap { HTTPDate.seconds($0) })
        } catch {
            return nil
        }
    }
}

/// Checks that this machine's clock agrees with Apple's.
struct ClockCheck: DoctorCheck {
    static let name = "clock"
    /// Clock difference, in seconds, at which the check fails. It is ten seconds less than the difference at
    /// which Apple or this service refuses tokens or client secrets because their times are in the future.
    static let wrong = ServiceWarnings.wrongClock
    static let remarkable: Int64 = 10

    /// Apple's time in seconds since 1970; `nil` if it is unknown.
    let appleDate: Int64?
    let ownDate: Int64

    /// Returns the number of seconds that this machine's clock is ahead of Apple's; `nil` if unknown.
    static func skew(appleDate: Int64?, ownDate: Int64) -> Int64? {
        guard let appleDate else { return nil }
        let (skew, overflow) = ownDate.subtractingReportingOverflow(appleDate)
        return overflow ? nil : skew
    }

    func run() -> [Finding] {
        guard let skew = Self.skew(appleDate: appleDate, ownDate: ownDate) else {
            return [.skipped(Self.name, "Apple's time is not known")]
        }
        if skew.magnitude < Self.remarkable { return [.good(Self.name, "agrees with Apple's")] }
        let words = "\(skew.magnitude) s \(skew < 0 ? "behind" : "ahead of") Apple's"
        let advice = "Keep it right with chrony or systemd-timesyncd."
        if skew.magnitude < Self.wrong { return [.note(Self.name, words, advice: advice)] }
        return [
            .wrong(
                Self.name, words,
                advice: "Beyond \(ServiceWarnings.refusingClock) s "
                    + (skew < 0
                        ? "this service refuses new tokens and notifications of Apple. "
                        : "Apple refuses the client secrets. ") + advice)
        ]
    }
}
