import AppleEmulator
import Console
import Encodings

extension WorldPages {
    var peoplePages: [ConsolePage] {
        [
            ConsolePage(
                .get, WorldTabs.Place.people.rawValue, access: .development,
                entry: ConsolePage.Entry("Fake world", order: 80)
            ) { request in
                .template(
                    "world-people", title: "Fake world",
                    values: WorldPeopleValues(request, world: world))
            },
            ConsolePage(.post, "/world/people", access: .development) { request in
                try await Self.act(then: "/world") {
                    "\(try world.make(Self.recipe(of: request)).displayName) has an Apple Account now."
                }
            },
            ConsolePage(.get, "/world/people/{sub}", access: .development) { request in
                guard let person = world.person(request.parameters["sub"] ?? "") else { return .notFound }
                return .template(
                    "world-person", title: person.displayName,
                    values: WorldPersonValues(person, request, world: world))
            },
            ConsolePage(.post, "/world/people/{sub}", access: .development) { request in
                let subject = request.parameters["sub"] ?? ""
                guard world.person(subject) != nil else { return .notFound }
                return try await Self.act(then: Self.path(of: subject)) {
                    try world.edit(subject, Self.recipe(of: request))
                    return "Changed."
                }
            },
            ConsolePage(.post, "/world/people/{sub}/{action}", access: .development) { request in
                let subject = request.parameters["sub"] ?? ""
                guard let action = WorldAction(rawValue: request.parameters["action"] ?? ""),
                    world.person(subject) != nil
                else { return .notFound }
                let path = action == .linkWithGoogle ? "/world/exchanges" : Self.path(of: subject)
                return try await Self.act(then: path) {
                    try await world.carryOut(action, of: subject)
                }
            },
        ]
    }

    static func path(of subject: String) -> String {
        "/world/people/\(QueryText.encode(subject))"
    }

    /// Characters of a name, and of an address.
    private static let longestText = 320

    private static func recipe(of request: ConsoleRequest) throws -> UserRecipe {
        func text(_ name: String) throws -> String? {
            guard let text = request.form[name], !text.isEmpty else { return nil }
            guard text.utf8.count <= longestText else {
                throw DevelopmentWorldError("A name and an address have at most \(longestText) bytes.")
            }
            return text
        }
        var recipe = UserRecipe()
        (recipe.firstName, recipe.lastName) = (try text("first_name"), try text("last_name"))
        if let email = try text("email") { recipe.email = .given(email) }
        recipe.hidesEmail = request.form["hides_email"] != nil
        recipe.realUserStatus = request.form["real_user_status"].flatMap { Int64($0) }
        if let status = recipe.realUserStatus, !(0...2).contains(status) {
            throw DevelopmentWorldError("The real user status is 0, 1 or 2.")
        }
        return recipe
    }
}

/// Actions of a person. The raw value is the last part of the path of its form.
enum WorldAction: String, CaseIterable {
    case signInOnPhone = "sign-in-on-phone"
    case signInOnWeb = "sign-in-on-web"
    case linkWithGoogle = "link-with-google"
    case stopUsingApp = "stop-using-app"
    case changeForwarding = "change-forwarding"
    case changePassword = "change-password"
    case deleteAccount = "delete-account"

    var title: String {
        switch self {
        case .signInOnPhone: "Sign in on an iPhone"
        case .signInOnWeb: "Sign in on the web"
        case .linkWithGoogle: "Link with Google"
        case .stopUsingApp: "Stop using the app"
        case .changeForwarding: "Change e-mail forwarding"
        case .changePassword: "Change password"
        case .deleteAccount: "Delete Apple account"
        }
    }
}

/// A page of people, newest first.
private struct WorldPeopleValues: Sendable {
    /// People on a page.
    static let size = 25

    struct Row: Sendable {
        let href: String
        let name: String
        let email: String
        let relayAddress: String?
        let apps: String?
        let isDeleted: Bool
        let csrf: String
        let canStop: Bool
    }

    let tabs: WorldTabs
    let csrf: String
    let find: String
    let hasPeople: Bool
    let people: [Row]
    let range: String
    let newer: String?
    let older: String?
    let hasGoogle: Bool

    init(_ request: ConsoleRequest, world: DevelopmentFakes) {
        (tabs, csrf) = (WorldTabs(.people), request.viewer.formToken)
        find = WorldSearch.words(of: request)
        hasGoogle = world.google != nil
        let all = world.people(matching: find)
        let last = all.isEmpty ? 0 : (all.count - 1) / Self.size * Self.size
        let offset = min(max(0, request.query["from"].flatMap { Int($0) } ?? 0), last)
        people = all.dropFirst(offset).prefix(Self.size).map { person in
            Row(
                href: "/console\(WorldPages.path(of: person.subject))", name: person.displayName,
                email: person.email ?? "no address",
                relayAddress: person.hidesEmail ? person.identities.first?.relayAddress : nil,
                apps: person.apps.isEmpty ? nil : person.apps.sorted().joined(separator: ", "),
                isDeleted: person.isDeleted, csrf: request.viewer.formToken,
                canStop: !person.apps.isEmpty)
        }
        hasPeople = !people.isEmpty
        let next = offset + people.count
        range = "\(offset + 1) to \(next) of \(all.count)"
        newer = offset > 0 ? Self.link(find, max(0, offset - Self.size)) : nil
        older = next < all.count ? Self.link(find, next) : nil
    }

    private static func link(_ find: String, _ offset: Int) -> String {
        "/console/world?\(FormEncoding.encode([("find", find), ("from", String(offset))]))"
    }
}

/// One person.
private struct WorldPersonValues: Sendable {
    struct Button: Sendable {
        let action: String
        let title: String
        let style: String
    }

    struct Status: Sendable {
        let value: String
        let words: String
        let isChosen: Bool
    }

    let tabs: WorldTabs
    let csrf: String
    let path: String
    let name: String
    let subject: String
    let firstName: String
    let lastName: String
    let email: String
    let hidesEmail: Bool
    let relayAddresses: [String]
    let forwardsEmail: Bool
    let apps: [String]
    let isDeleted: Bool
    let statuses: [Status]
    let buttons: [Button]

    init(_ person: EmulatedUser, _ request: ConsoleRequest, world: DevelopmentFakes) {
        (tabs, csrf) = (WorldTabs(.people), request.viewer.formToken)
        path = "/console\(WorldPages.path(of: person.subject))"
        (name, subject, email) = (person.displayName, person.subject, person.email ?? "none")
        (firstName, lastName) = (person.firstName ?? "", person.lastName ?? "")
        (hidesEmail, relayAddresses) = (person.hidesEmail, person.identities.map(\.relayAddress))
        (forwardsEmail, apps) = (person.forwardsEmail, person.apps.sorted())
        isDeleted = person.isDeleted
        let known: [(value: Int64?, words: String)] = [
            (2, "likely real (2)"), (1, "unknown (1)"), (0, "unsupported (0)"), (nil, "no claim"),
        ]
        statuses = known.map { status in
            Status(
                value: status.value.map { String($0) } ?? "", words: status.words,
                isChosen: status.value == person.realUserStatus)
        }
        let actions = WorldAction.allCases.filter { action in
            switch action {
            case .signInOnPhone, .changePassword, .changeForwarding, .deleteAccount: true
            case .signInOnWeb: world.clientIDs.count > 1
            case .linkWithGoogle: world.google != nil
            case .stopUsingApp: !person.apps.isEmpty
            }
        }
        buttons =
            person.isDeleted
            ? []
            : actions.map { action in
                let title =
                    action == .changeForwarding
                    ? "Turn \(person.forwardsEmail ? "off" : "on") e-mail forwarding" : action.title
                let style = action == .deleteAccount ? "danger" : action == .signInOnPhone ? "" : "secondary"
                return Button(action: action.rawValue, title: title, style: style)
            }
    }
}
