import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// The emulator as a whole: its apps, notification URL, counters, clock, and reset.
struct StateRoutes: Sendable {
    let state: EmulatorState

    func add(to router: RouterGroup<EmulatorRequestContext>) {
        router.control(.get, "") { request in overview() }
        router.control(.put, "notification-url") { request in
            let url = try request.input { input throws(EmulatorError) in
                try input.string("url", maximum: 2048)
            }
            guard let url else { throw EmulatorError(.memberMalformed, detail: "url: a string") }
            state.setNotificationTarget(try NotificationTarget(url, allowedHosts: state.allowedHosts))
            return overview()
        }
        router.control(.delete, "notification-url") { request in
            state.setNotificationTarget(nil)
            return overview()
        }
        router.control(.get, "counters") { request in counters() }
        router.control(.delete, "counters") { request in
            state.clearCounters()
            return counters()
        }
        router.control(.post, "clock") { request in
            let seconds = try request.input { input throws(EmulatorError) in
                try input.integer("advance_seconds")
            }
            try state.advanceClock(bySeconds: seconds ?? 0)
            let now = state.now / 1000
            return ControlResponse(json: JSONObject([("now", .integer(now))]), text: String(now))
        }
        router.control(.post, "reset") { request in
            try request.requireNoInput()
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
