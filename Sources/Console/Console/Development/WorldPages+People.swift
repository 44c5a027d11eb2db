import Encodings

extension WorldPages {
    var peoplePages: [ConsolePage] {
        [
            ConsolePage(
                .get, WorldTabs.Place.people.rawValue, access: .development,
                entry: ConsolePage.Entry("Fake world", order: 80)
            ) { request in
                .page(
                    template: "world-people", title: "Fake world",
                    values: WorldPeopleValues(request, world: world))
            },
            ConsolePage(.post, "/world/people", access: .development) { request in
                try await Self.act(then: "/world") {
                    "\(try world.makePerson(Self.person(of: request)).name) has an Apple Account now."
                }
            },
            ConsolePage(.get, "/world/people/{sub}", access: .development) { request in
                guard let person = world.person(request.parameters["sub"] ?? "") else { return .notFound }
                return .page(
                    template: "world-person", title: person.name,
                    values: WorldPersonValues(person, request, world: world))
            },
            ConsolePage(.post, "/world/people/{sub}", access: .development) { request in
                let subject = request.parameters["sub"] ?? ""
                guard world.person(subject) != nil else { return .notFound }
                return try await Self.act(then: Self.path(of: subject)) {
                    try world.editPerson(subject, Self.person(of: request))
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
                    try await world.carryOut(action, of: subject).sentence
                }
            },
        ]
    }

    static func path(of subject: String) -> String {
        "/world/people/\(QueryText.encode(subject))"
    }

    /// Characters of a name, and of an address.
    private static let longestText = 320

    private static func person(of request: ConsoleRequest) throws -> NewWorldPerson {
        var person = NewWorldPerson()
        func text(_ name: String) throws -> String? {
            guard let text = request.form[name], !text.isEmpty else { return nil }
            guard text.utf8.count <= longestText else {
                throw DevelopmentWorldError("A name and an address have at most \(longestText) bytes.")
            }
            return text
        }
        person.firstName = try text("first_name")
        person.lastName = try text("last_name")
        person.email = try text("email")
        person.hidesEmail = request.form["hides_email"] != nil
        person.realUserStatus = request.form["real_user_status"].flatMap { Int64($0) }
        if let status = person.realUserStatus, !(0...2).contains(status) {
            throw DevelopmentWorldError("The real user status is 0, 1 or 2.")
        }
        return person
    }
}

/// The list of people.
private struct WorldPeopleValues: Sendable {
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

    init(_ request: ConsoleRequest, world: any FakeWorld) {
        (tabs, csrf) = (WorldTabs(.people), request.viewer.formToken)
        find = WorldSearch.words(of: request)
        hasGoogle = world.hasGoogle
        let page = world.people(matching: find, from: request.query["from"].flatMap { Int($0) } ?? 0)
        people = page.people.map { person in
            Row(
                href: "/console\(WorldPages.path(of: person.subject))", name: person.name,
                email: person.email ?? "no address",
                relayAddress: person.hidesEmail ? person.relayAddresses.first : nil,
                apps: person.apps.isEmpty ? nil : person.apps.joined(separator: ", "),
                isDeleted: person.isDeleted, csrf: request.viewer.formToken,
                canStop: !person.apps.isEmpty)
        }
        hasPeople = !people.isEmpty
        range = "\(page.offset + 1) to \(page.offset + people.count) of \(page.found)"
        let next = page.offset + people.count
        newer = page.offset > 0 ? Self.link(find, max(0, page.offset - WorldPeople.size)) : nil
        older = next < page.found ? Self.link(find, next) : nil
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

    init(_ person: WorldPerson, _ request: ConsoleRequest, world: any FakeWorld) {
        (tabs, csrf) = (WorldTabs(.people), request.viewer.formToken)
        path = "/console\(WorldPages.path(of: person.subject))"
        (name, subject, email) = (person.name, person.subject, person.email ?? "none")
        (firstName, lastName) = (person.firstName ?? "", person.lastName ?? "")
        (hidesEmail, relayAddresses) = (person.hidesEmail, person.relayAddresses)
        (forwardsEmail, apps, isDeleted) = (person.forwardsEmail, person.apps, person.isDeleted)
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
            case .linkWithGoogle: world.hasGoogle
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
