public import AppleAccounts

/// The first page: what is wrong now, the plots, and the state of everything that the service depends on.
///
/// An operator who may see a part of the apps sees the state of the service, and no number: each number is about
/// people of all apps.
public struct OverviewPages: Sendable {
    /// Sources of the page beside the numbers and troubles.
    public struct Sources: Sendable {
        public let findings: @Sendable () async -> DoctorFindings?
        public let keys: @Sendable () async -> [KeyCondition]
        public let version: String
        /// Retires the key that signs tokens with this ID. Returns false for a key that opens, and for none.
        public let retireKey: @Sendable (_ keyID: String, _ origin: AuditOrigin) async throws -> Bool

        public init(
            version: String, findings: @escaping @Sendable () async -> DoctorFindings?,
            keys: @escaping @Sendable () async -> [KeyCondition],
            retireKey: @escaping @Sendable (String, AuditOrigin) async throws -> Bool
        ) {
            (self.version, self.findings, self.keys) = (version, findings, keys)
            self.retireKey = retireKey
        }
    }

    let numbers: ServiceNumbers
    let monitor: OverviewMonitor
    let sources: Sources
    let world: (any DevelopmentWorld)?

    /// - Parameter world: `nil` outside of `siwa dev`.
    public init(
        numbers: ServiceNumbers, monitor: OverviewMonitor, sources: Sources, world: (any DevelopmentWorld)?
    ) {
        (self.numbers, self.monitor, self.sources, self.world) = (numbers, monitor, sources, world)
    }

    public var pages: [ConsolePage] {
        let overview = ConsolePage(
            .get, "/overview", access: .operators, entry: ConsolePage.Entry("Overview", order: 10),
            handle: show)
        return [
            overview, ConsolePage(.post, "/overview/retire-key", access: .operatorsOfAllApps, handle: retire),
        ]
            + (world.map(actions) ?? [])
    }

    private func retire(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let origin = AuditOrigin(.consoleOperator(request.viewer.name), requestID: request.requestID)
        guard let keyID = request.form["key"], try await sources.retireKey(keyID, origin) else {
            return .refused("This key opens, or is gone. A key that opens is not retired by hand.")
        }
        return .redirect(to: "/overview", notice: "The key is retired. Tokens that it has signed end.")
    }

    private func show(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (condition, troubles) = await monitor.latest()
        let seesNumbers = request.viewer.scope == .all
        let period = request.query["period"].flatMap(PlotPeriod.init(rawValue:)) ?? .hour
        var plots: [Plot] = []
        var isOld = false
        if seesNumbers {
            do {
                plots = ServicePlots(period: period, points: try await points(of: period)).all
            } catch {
                // Without the database the hours are gone, and the minutes are not.
                isOld = true
            }
        }
        return .page(
            template: "overview", title: "Overview",
            values: OverviewValues(
                condition: condition,
                troubles: troubles.filter { seesNumbers || $0.trouble.concernsEveryone },
                plots: plots, isOld: isOld, period: period, seesNumbers: seesNumbers,
                findings: await sources.findings(), keys: await sources.keys(), version: sources.version,
                faults: await world?.faults, csrf: request.viewer.formToken),
            isLive: true)
    }

    private func points(of period: PlotPeriod) async throws -> [PlotPoint] {
        guard let hours = period.hours else {
            return numbers.lastHour().map { PlotPoint(begin: $0.minute, counts: $0.counts) }
        }
        return try await numbers.hours(hours).map { PlotPoint(begin: $0.hour, counts: $0.counts) }
    }

    // MARK: The buttons of `siwa dev`

    private func actions(in world: any DevelopmentWorld) -> [ConsolePage] {
        func act(
            _ path: String, _ body: @escaping @Sendable () async throws -> DevelopmentOutcome
        ) -> ConsolePage {
            ConsolePage(.post, path, access: .development) { _ in
                do {
                    let outcome = try await body()
                    return .redirect(to: "/overview", notice: outcome.sentence)
                } catch let error as DevelopmentWorldError {
                    return error.answer
                }
            }
        }
        return [
            act("/overview/sign-in") { try await world.newPersonSignsIn() },
            act("/overview/link") { try await world.linkWithGoogle() },
            act("/overview/stop") { try await world.personStopsUsingTheApp() },
            ConsolePage(.post, "/overview/fault", access: .development) { request in
                guard let name = request.form["name"], let state = request.form["state"],
                    ["on", "off"].contains(state),
                    try await world.switchFault(named: name, isOn: state == "on")
                else { return .refused("There is no such fault. Go back, and choose one of the list.") }
                let fault = await world.faults.first { $0.name == name }
                return .redirect(
                    to: "/overview",
                    notice: state == "on" ? fault?.notice ?? "The fault is on." : "The fault is off.")
            },
        ]
    }
}
