import AppleEmulator
import Console
import Encodings
import Pages

extension WorldPages {
    var peoplePages: [ConsolePage] {
        [
            ConsolePage(
                .get, Place.people.rawValue, access: .development, entry: ("Fake world", 80), handle: people),
            ConsolePage(.post, "/world/people", access: .development) { request in
                try await Self.act(then: "/world") {
                    "\(try world.make(Self.recipe(of: request)).shownName) has an Apple Account now."
                }
            },
            ConsolePage(.get, "/world/people/{sub}", access: .development, handle: person),
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
                return try await Self.act(then: path) { try await world.carryOut(action, of: subject) }
            },
        ]
    }

    /// Number of people per page.
    private static let pageSize = 25

    /// Returns the page of people, newest first.
    private func people(_ request: ConsoleRequest) -> ConsoleAnswer {
        // Search words, truncated to the maximum length.
        let find = String(
            decoding: (request.query["find"] ?? "").utf8.prefix(Self.longestText), as: UTF8.self)
        let all = world.people(matching: find)
        let place = request.place.limited(to: all.count, size: Self.pageSize)
        let people = all.dropFirst(place.skipped).prefix(Self.pageSize)
        return Self.page("Fake world", at: .people) {
            """
            <p>The people of the fake Apple. They are invented, so nothing is masked here. What they do goes the way \
            of a real person: over HTTP, with tokens that siwa verifies.</p>
            <form class="row" method="get" action="/console/world" role="search">
            <label for="find">Name, address, relay address or user ID</label>
            <input id="find" type="search" name="find" value="\(find)" maxlength="\(Self.longestText)">
            <button class="secondary">Search</button>
            </form>
            """
            Table(
                "People", [.any("Name"), .any("Address"), .any("Uses"), "Actions"], people,
                ifEmpty: "No person has this text in the name, the addresses or the user ID.",
                cells: { Self.cells($0, request) }
            ).paged(
                Pager(
                    place, rows: people.count, size: Self.pageSize, of: all.count, at: "/console/world",
                    [("find", find)]))
            Card("New person") { Self.form(of: nil, request) }
        }
    }

    private static func cells(_ person: EmulatedUser, _ request: ConsoleRequest) -> [HTML] {
        let (name, path) = (person.shownName, path(of: person.subject))
        let relay = person.hidesEmail ? person.identities.first?.relayAddress : nil
        let actions = HTML {
            if !person.isDeleted {
                PostForm(to: "\(path)/sign-in-on-phone", request) {
                    button("Sign in", "quiet", unseen: " \(name)")
                }
                if !person.apps.isEmpty {
                    PostForm(to: "\(path)/stop-using-app", request) {
                        button("Stop using", "quiet", unseen: " the app as \(name)")
                    }
                }
            }
        }
        let badge: HTML = person.isDeleted ? " <span class=\"badge\">deleted</span>" : ""
        let seen = relay.map { "<br><small class=\"muted\">apps see \($0)</small>" as HTML }
        return [
            HTML.link(.text(name), to: "/console\(path)") + badge, "\(person.email ?? "no address")\(seen)",
            person.apps.isEmpty ? .muted("no app") : .text(person.apps.sorted().joined(separator: ", ")),
            actions,
        ]
    }

    private func person(_ request: ConsoleRequest) -> ConsoleAnswer {
        guard let person = world.person(request.parameters["sub"] ?? "") else { return .notFound }
        func codes(_ texts: [String]) -> HTML { texts.map { .code($0) }.joined(separator: " ") }
        let facts = [
            Fact("User ID (sub)", .code(person.subject)), Fact("Address", .text(person.email ?? "none")),
            Fact(
                "Apps see", person.hidesEmail ? codes(person.identities.map(\.relayAddress)) : "the address"),
            Fact("Forwarding", person.forwardsEmail ? "on" : .span("warn", "off")),
            Fact("Uses", person.apps.isEmpty ? "no app" : codes(person.apps.sorted())),
            person.isDeleted ? Fact("State", "deleted", look: "bad") : nil,
        ]
        return Self.page(person.shownName, at: .people) {
            Division("grid") {
                Card("Apple Account") { Facts(facts) }
                if !person.isDeleted { actions(of: person, request) }
            }
            if !person.isDeleted { Card("Edit") { Self.form(of: person, request) } }
            "<p><a href=\"/console/world\">All people</a></p>"
        }
    }

    private func actions(of person: EmulatedUser, _ request: ConsoleRequest) -> Card {
        let actions = WorldAction.allCases.filter { action in
            switch action {
            case .signInOnPhone, .changePassword, .changeForwarding, .deleteAccount: true
            case .signInOnWeb: world.clientIDs.count > 1
            case .linkWithGoogle: world.google != nil
            case .stopUsingApp: !person.apps.isEmpty
            }
        }
        return Card("Actions") {
            Division("bar") {
                for action in actions {
                    let look =
                        action == .deleteAccount ? "danger" : action == .signInOnPhone ? nil : "secondary"
                    PostForm(to: "\(Self.path(of: person.subject))/\(action.rawValue)", request) {
                        Self.button(action.title(for: person), look)
                    }
                }
            }
            """
            <p class="muted">For each change Apple sends its notification to siwa, unless \
            <a href="/console/world/notifications">notifications are held</a>. After a change of the password Apple \
            sends nothing: siwa finds the end of the refresh token with its next check.</p>
            """
        }
    }

    /// - Parameter person: The person to edit; `nil` to create a person.
    private static func form(of person: EmulatedUser?, _ request: ConsoleRequest) -> PostForm {
        func field(_ id: String, _ label: String, _ attributes: HTML) -> HTML {
            """
            <div><label for="\(id)">\(label)</label><input id="\(id)" \(attributes) maxlength="\(longestText)"></div>
            """
        }
        let (first, last) = person.map { ($0.firstName, $0.lastName) } ?? ("Ada", "Lovelace")
        let status = Select(
            "real_user_status", id: "status",
            [("2", "likely real (2)"), ("1", "unknown (1)"), ("0", "unsupported (0)"), ("", "no claim")],
            chosen: person.map { $0.realUserStatus.map { "\($0)" } ?? "" })
        let checked = person?.hidesEmail == true ? " checked" : ""
        return PostForm(to: person.map { path(of: $0.subject) } ?? "/world/people", request, look: "") {
            Division("grid") {
                field("first", "First name", "name=\"first_name\" value=\"\(first)\"")
                field("last", "Last name", "name=\"last_name\" value=\"\(last)\"")
                if person == nil {
                    field(
                        "email", "E-mail address",
                        "type=\"email\" name=\"email\" placeholder=\"made of the name\"")
                }
                "<div><label for=\"status\">Real user status</label>\(status.html)</div>"
            }
            """
            <p><label><input type="checkbox" name="hides_email" value="1"\(checked)> Hides the address behind a relay \
            address</label></p>
            """
            if person == nil {
                button("Make an Apple Account")
            } else {
                "<p class=\"muted\">Apple tells an app the name at the first sign-in only.</p>"
                button("Save")
            }
        }
    }

    static func path(of subject: String) -> String { "/world/people/\(QueryText.encode(subject))" }

    /// Maximum length of a name, an address or a search, in bytes.
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

/// Actions that a person takes. The raw value is the last part of the form's path.
enum WorldAction: String, CaseIterable {
    case signInOnPhone = "sign-in-on-phone"
    case signInOnWeb = "sign-in-on-web"
    case linkWithGoogle = "link-with-google"
    case stopUsingApp = "stop-using-app"
    case changeForwarding = "change-forwarding"
    case changePassword = "change-password"
    case deleteAccount = "delete-account"

    func title(for person: EmulatedUser) -> String {
        switch self {
        case .signInOnPhone: "Sign in on an iPhone"
        case .signInOnWeb: "Sign in on the web"
        case .linkWithGoogle: "Link with Google"
        case .stopUsingApp: "Stop using the app"
        case .changeForwarding: "Turn \(person.forwardsEmail ? "off" : "on") e-mail forwarding"
        case .changePassword: "Change password"
        case .deleteAccount: "Delete Apple account"
        }
    }
}
