import EmulatorServer
import HTTPAPI

/// A request to the service as the console's diagram names it: who sent it, and the section that describes it.
struct ServiceStep {
    let step: ExchangeStep
    let title: String

    init(_ request: RecentRequest) {
        let known = Self.known.first { $0.method == request.method && $0.route == request.route }
        guard let known else {
            let target = request.exchange?.target ?? request.route
            let title = "\(request.method) \(target.prefix { $0 != "?" }.prefix(64))"
            self.init(.browser, title, Self.own, isRoutine: target == "/favicon.ico")
            return
        }
        let word = known.field.flatMap { field in
            request.exchange?.form?.first { $0.name == field }?.value
        }
        let variant = word.flatMap { word in known.variants.first { $0.word == word } }
        // A device asks again until the user has decided.
        let isRoutine = known.isRoutine || request.code == "authorization_pending"
        self.init(
            known.sender.party(of: request), variant?.title ?? known.title,
            variant?.standard ?? known.standard, isRoutine: isRoutine)
    }

    private init(
        _ sender: ExchangeStep.Party, _ title: String, _ standard: String, isRoutine: Bool
    ) {
        step = ExchangeStep(sender, .siwa, standard, isRoutine: isRoutine)
        self.title = title
    }

    /// A call that no standard describes.
    static let own = "siwa: openapi.yaml"
}

extension ServiceStep {
    /// Requests of one method to one route.
    struct Known {
        enum Sender {
            /// A browser, an app or its backend.
            case browser
            /// Google, if the request names Google's client.
            case client
            case google, apple

            func party(of request: RecentRequest) -> ExchangeStep.Party {
                switch self {
                case .browser: .browser
                case .client: request.client == DevelopmentClients.google ? .google : .browser
                case .google: .google
                case .apple: .apple
                }
            }
        }

        let method: String
        let route: String
        let title: String
        let standard: String
        var sender = Sender.browser
        /// True for a request that repeats without a person.
        var isRoutine = false
        /// The field of the form that makes `variants` of the request.
        var field: String?
        var variants: [Variant] = []

        init(
            _ method: String, _ route: String, _ title: String, _ standard: String,
            from sender: Sender = .browser, isRoutine: Bool = false, by field: String? = nil,
            _ variants: [Variant] = []
        ) {
            (self.method, self.route, self.title, self.standard) = (method, route, title, standard)
            (self.sender, self.isRoutine) = (sender, isRoutine)
            (self.field, self.variants) = (field, variants)
        }
    }

    /// The request with one value of a field.
    struct Variant {
        let word: String
        let title: String
        let standard: String

        init(_ word: String, _ title: String, _ standard: String) {
            (self.word, self.title, self.standard) = (word, title, standard)
        }
    }
}
