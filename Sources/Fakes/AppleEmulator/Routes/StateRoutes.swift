import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// The emulator as a whole: its apps, notification URL, counters, clock, and reset.
struct StateRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.control(.get, "", "Shows the configuration; text: the issuer.") { overview() }
        api.control(
            .put, "notification-url", "Sets the URL that receives notifications.",
            example: ["url": "http://127.0.0.1:8080/v1/apple/notifications"]
        ) { input throws(EmulatorError) in
            try input.required("url", maximum: 2048)
        } use: { url in
            state.setNotificationTarget(try NotificationTarget(url, allowedHosts: state.allowedHosts))
            return overview()
        }
        api.control(.delete, "notification-url", "Removes the URL, so that no notification is posted.") {
            state.setNotificationTarget(nil)
            return overview()
        }
        api.control(.get, "counters", "Shows the number of requests and outcomes for each endpoint.") {
            counters()
        }
        api.control(.delete, "counters", "Sets all counters to zero.") {
            state.clearCounters()
            return counters()
        }
        api.control(
            .post, "clock", "Moves the emulator's time ahead; text: the time in seconds since 1970.",
            example: ["advance_seconds": 3600]
        ) { input throws(EmulatorError) in
            try input.integer("advance_seconds", in: 0...EmulatorState.longestStep) ?? 0
        } use: { seconds in
            try state.advanceClock(bySeconds: seconds)
            let now = state.now / 1000
            return ControlResponse(json: JSONObject([("now", .integer(now))]), text: String(now))
        }
        api.control(.post, "reset", "Restores the initial state.") { input throws(EmulatorError) in
            try input.refuseMembers()
        } use: {
            try state.reset()
            return overview()
        }
    }

    private func overview() -> ControlResponse {
        let apps = state.apps.map { app in
            JSONValue.object(
                JSONObject([
                    ("team_id", .string(app.teamID)),
                    ("client_ids", .array(app.clientIDs.map { .string($0) })),
                    ("redirect_uris", .array(app.redirectURIs.map { .string($0) })),
                ]))
        }
        var json = JSONObject([
            ("issuer", .string(IdentityTokenClaims.issuer)), ("apps", .array(apps)),
            ("users", .integer(Int64(state.users.count))),
        ])
        json["notification_url"] = state.notificationTarget.map { .string($0.url) }
        return ControlResponse(json: json, text: IdentityTokenClaims.issuer)
    }

    private func counters() -> ControlResponse {
        let json = state.counters.json
        let lines = json.members.map { "\($0.name) \($0.value.integer ?? 0)" }
        return ControlResponse(json: json, text: lines.joined(separator: "\n"))
    }
}
