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
    let card: Card?

    /// A card below the state: a template of the site, and its values.
    public struct Card: Sendable {
        public let template: String
        public let values: @Sendable (ConsoleRequest) -> any Sendable

        public init(template: String, values: @escaping @Sendable (ConsoleRequest) -> any Sendable) {
            (self.template, self.values) = (template, values)
        }
    }

    public init(numbers: ServiceNumbers, monitor: OverviewMonitor, sources: Sources, card: Card? = nil) {
        (self.numbers, self.monitor, self.sources, self.card) = (numbers, monitor, sources, card)
    }

    public var pages: [ConsolePage] {
        [
            ConsolePage(
                .get, "/overview", access: .operators, entry: ConsolePage.Entry("Overview", order: 10),
                handle: show),
            ConsolePage(.post, "/overview/retire-key", access: .operatorsOfAllApps, handle: retire),
        ]
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
        return .template(
            "overview", title: "Overview",
            values: OverviewValues(
                condition: condition,
                troubles: troubles.filter { seesNumbers || $0.trouble.concernsEveryone },
                plots: plots, isOld: isOld, period: period, seesNumbers: seesNumbers,
                findings: await sources.findings(), keys: await sources.keys(), version: sources.version,
                card: card.map { ($0.template, $0.values(request)) }, csrf: request.viewer.formToken),
            isLive: true)
    }

    private func points(of period: PlotPeriod) async throws -> [PlotPoint] {
        guard let hours = period.hours else {
            return numbers.lastHour().map { PlotPoint(begin: $0.minute, counts: $0.counts) }
        }
        return try await numbers.hours(hours).map { PlotPoint(begin: $0.hour, counts: $0.counts) }
    }
}
