import EmulatorServer
import HTTPTypes
import Hummingbird
public import StrictJSON

/// The emulator as a whole: its apps, notification URL, counters, clock, and reset.
struct StateRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(.get, "", "Shows the configuration; text: the issuer.") { overview() }
        api.add(
            .put, "notification-url", "Sets the URL that receives notifications.",
            example: ["url": "http://127.0.0.1:8080/v1/apple/notifications"]
        ) { input throws(EmulatorError) in
            try input.required("url", maximum: 2048)
        } use: { url in
            state.setNotificationTarget(try NotificationTarget(url, allowedHosts: state.allowedHosts))
            return overview()
        }
        api.add(.delete, "notification-url", "Removes the URL, so that no notification is posted.") {
            state.setNotificationTarget(nil)
            return overview()
        }
        api.add(.get, "counters", "Shows the number of requests and outcomes for each endpoint.") {
            counters()
        }
        api.add(.delete, "counters", "Sets all counters to zero.") {
            state.clearCounters()
            return counters()
        }
        api.add(
            .post, "clock", "Moves the emulator's time ahead; text: the time in seconds since 1970.",
            example: ["advance_seconds": 3600]
        ) { input throws(EmulatorError) in
            try input.integer("advance_seconds", in: 0...EmulatorState.longestStep) ?? 0
        } use: { seconds in
            try state.advanceClock(bySeconds: seconds)
            let now = state.now / 1000
            return ControlResponse(EmulatedTime(now: now), text: String(now))
        }
        api.add(.post, "reset", "Restores the initial state.") { input throws(EmulatorError) in
            try input.refuseMembers()
        } use: {
            try state.reset()
            return overview()
        }
    }

    private func overview() -> ControlResponse<EmulatorOverview> {
        ControlResponse(
            EmulatorOverview(
                apps: state.apps, users: state.users.count, notificationURL: state.notificationTarget?.url),
            text: IdentityTokenClaims.issuer)
    }

    private func counters() -> ControlResponse<EmulatorCounters> {
        let counters = state.counters
        let lines = counters.named.map { "\($0.name) \($0.value)" }
        return ControlResponse(counters, text: lines.joined(separator: "\n"))
    }
}

private struct EmulatedTime: JSONBody {
    let now: Int64

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("now", "Seconds since 1970.") { $0.now }
    }
}

private struct EmulatorOverview: JSONBody {
    let apps: [EmulatedApp]
    let users: Int
    let notificationURL: String?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("issuer", "The iss of all tokens.") { _ in IdentityTokenClaims.issuer }
        member("apps") { $0.apps }
        member("users", "The number of users.") { $0.users }
        member("notification_url") { $0.notificationURL }
    }
}

extension EmulatedApp: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("team_id") { $0.teamID }
        member("client_ids") { $0.clientIDs }
        member("redirect_uris", "The return URLs for sign-in on the web.") { $0.redirectURIs }
    }
}
