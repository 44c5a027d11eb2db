package import AppleAccounts
package import AuthorizationServer
package import EventDelivery
package import HTTPAPI

/// The event feed with its readers, the deliveries to receivers, and what came from Apple and from Google.
package struct EventPages: Sendable {
    package typealias Store = AccountStore & InboxStore & DeliveryStore & GrantInspectionStore

    /// A receiver as the configuration has it.
    package struct Receiver: Sendable {
        package let name: ReceiverName
        /// The way in which it gets its events, in a few words.
        package let form: String
        /// True if it gets security event tokens, and so also verification events.
        package let isVerifiable: Bool

        package init(name: ReceiverName, form: String, isVerifiable: Bool) {
            (self.name, self.form, self.isVerifiable) = (name, form, isVerifiable)
        }
    }

    package struct Dependencies: Sendable {
        let store: any Store
        let arrivals: ArrivalLog
        /// The callers that read the feed of this process.
        let readers: @Sendable () -> [FeedReader]
        let receivers: [Receiver]
        let lastFailure: @Sendable (ReceiverName) -> DeliveryFailure?
        /// Wakes the worker that delivers.
        let wake: @Sendable () -> Void
        /// True with a client of Google.
        let hasGoogle: Bool

        package init(
            store: any Store, arrivals: ArrivalLog, readers: @escaping @Sendable () -> [FeedReader],
            receivers: [Receiver], lastFailure: @escaping @Sendable (ReceiverName) -> DeliveryFailure?,
            wake: @escaping @Sendable () -> Void, hasGoogle: Bool
        ) {
            (self.store, self.arrivals, self.readers) = (store, arrivals, readers)
            (self.receivers, self.lastFailure, self.wake) = (receivers, lastFailure, wake)
            self.hasGoogle = hasGoogle
        }
    }

    let dependencies: Dependencies

    /// Number of entries of a page, at least where there are as many.
    static let pageSize = 50

    package init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(.get, "/events", access: .operators, entry: .init("Events", order: 60)) { request in
                try await feed(request)
            },
            ConsolePage(.get, "/events/apple", access: .operators) { request in try await apple(request) },
            ConsolePage(.get, "/events/google", access: .operatorsOfAllApps) { request in
                try await google(request)
            },
            ConsolePage(.get, "/events/deliveries", access: .operatorsOfAllApps) { request in
                try await deliveries(request)
            },
            ConsolePage(.post, "/events/deliveries/resume", access: .operatorsOfAllApps) { request in
                try await resume(request)
            },
            ConsolePage(.post, "/events/deliveries/replay", access: .operatorsOfAllApps) { request in
                try await replay(request)
            },
            ConsolePage(.post, "/events/deliveries/verify", access: .operatorsOfAllApps) { request in
                try await verify(request)
            },
        ]
    }

    /// The links between the pages, of which the operator sees those that may be opened.
    struct Tabs: Sendable {
        struct Tab: Sendable {
            let title: String
            let href: String
            let isCurrent: Bool
        }

        let tabs: [Tab]

        init(current: String, viewer: ConsoleViewer, hasGoogle: Bool) {
            var all = [("Feed", "/events"), ("From Apple", "/events/apple")]
            if viewer.scope == .all {
                if hasGoogle { all.append(("Google", "/events/google")) }
                all.append(("Deliveries", "/events/deliveries"))
            }
            tabs = all.map { Tab(title: $0, href: "/console\($1)", isCurrent: $1 == current) }
        }
    }

    func tabs(_ current: String, _ request: ConsoleRequest) -> Tabs {
        Tabs(current: current, viewer: request.viewer, hasGoogle: dependencies.hasGoogle)
    }
}

/// A caller that reads the event feed, as far as it has read.
package struct FeedReader: Sendable, Equatable {
    /// The name of its API key.
    package let name: String
    /// The number of the last event that it had when it asked last.
    package let sequence: Int64
    /// Events after this number, at most.
    package let behind: Int64
    package let askedAt: Moment

    package init(name: String, sequence: Int64, behind: Int64, askedAt: Moment) {
        (self.name, self.sequence, self.behind, self.askedAt) = (name, sequence, behind, askedAt)
    }
}
