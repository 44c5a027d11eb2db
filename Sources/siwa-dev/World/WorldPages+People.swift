import AppleEmulator
import Console
import Encodings
import Pages

extension WorldPages {
    var peoplePages: [ConsolePage] {
        [
            ConsolePage(
                .get, Place.people, access: .development, entry: ("Fake world", 80), handle: people),
            Self.action("/world/people") { request in
                let person = try world.apple.state.makeUser(Self.recipe(of: request))
                return .redirect(to: "/world", notice: "\(person.shownName) has an Apple Account now.")
            },
            ConsolePage(.get, "/world/people/{sub}", access: .development, handle: person),
            Self.action("/world/people/{sub}") { request in
                let (person, recipe) = (try person(of: request), try Self.recipe(of: request))
                var edit = UserEdit(person)
                (edit.firstName, edit.lastName) = (recipe.firstName, recipe.lastName)
                (edit.hidesEmail, edit.realUserStatus) = (recipe.hidesEmail, recipe.realUserStatus)
                try world.apple.state.edit(person.subject, edit)
                return .redirect(to: Self.path(of: person.subject), notice: "Changed.")
            },
            Self.action("/world/people/{sub}/{action}") { request in
                let person = try person(of: request)
                guard let action = WorldAction.all.first(where: { $0.name == request.parameters["action"] })
                else { return .notFound }
                let notice = try await action.carryOut(world, person)
                return .redirect(to: action.next ?? Self.path(of: person.subject), notice: notice)
            },
        ]
    }

    /// Returns the person in the path. Throws `.notFound` if nobody has this user ID.
    private func person(of request: ConsoleRequest) throws(ConsoleAnswer) -> EmulatedUser {
        guard let person = world.person(request.parameters["sub"] ?? "") else { throw .notFound }
        return person
    }

    /// Number of people per page.
    private static let pageSize = 25

    /// Returns the page of people, newest first.
    private func people(_ request: ConsoleRequest) -> ConsoleAnswer {
        // Search words, truncated to the maximum length.
        let find = String(
            decoding: (request.query["find"] ?? "").utf8.prefix(Self.longestText), as: UTF8.self)
        let all = world.apple.state.users.reversed().filter { $0.matches(find) }
        let place = request.place.limited(to: all.count, size: Self.pageSize)
        let people = all.dropFirst(place.skipped).prefix(Self.pageSize)
        return Self.page("Fake world", at: Place.people) {
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
                pager: Pager(
                    place, rows: people.count, size: Self.pageSize, of: all.count, at: "/console/world",
                    [("find", find)])
            ) { Self.cells($0, request) }
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

    private func person(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let person = try person(of: request)
        func codes(_ texts: [String]) -> HTML { texts.map { .code($0) }.joined(separator: " ") }
        let facts = [
            Fact("User ID (sub)", .code(person.subject)), Fact("Address", .text(person.email ?? "none")),
            Fact(
                "Apps see", person.hidesEmail ? codes(person.identities.map(\.relayAddress)) : "the address"),
            Fact("Forwarding", person.forwardsEmail ? "on" : .span("warn", "off")),
            Fact("Uses", person.apps.isEmpty ? "no app" : codes(person.apps.sorted())),
            person.isDeleted ? Fact("State", "deleted", look: "bad") : nil,
        ]
        return Self.page(person.shownName, at: Place.people) {
            Division("grid") {
                Card("Apple Account") { Facts(facts) }
                if !person.isDeleted { actions(of: person, request) }
            }
            if !person.isDeleted { Card("Edit") { Self.form(of: person, request) } }
            "<p><a href=\"/console/world\">All people</a></p>"
        }
    }

    private func actions(of person: EmulatedUser, _ request: ConsoleRequest) -> Card {
        Card("Actions") {
            Division("bar") {
                for action in WorldAction.all where action.isPossible(world, person) {
                    PostForm(to: "\(Self.path(of: person.subject))/\(action.name)", request) {
                        Self.button(action.title(person), action.look)
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

/// An action of a person. The name is the last part of the form's path.
struct WorldAction: Sendable {
    let name: String
    let title: @Sendable (EmulatedUser) -> String
    var look: String? = "secondary"
    /// The page that shows the outcome; `nil` for the person's page.
    var next: String?
    var isPossible: @Sendable (DevelopmentFakes, EmulatedUser) -> Bool = { _, _ in true }
    let carryOut: @Sendable (DevelopmentFakes, EmulatedUser) async throws -> String

    static let all = [
        WorldAction(name: "sign-in-on-phone", title: { _ in "Sign in on an iPhone" }, look: nil) {
            try await $0.signInOnPhone($1.subject)
        },
        WorldAction(
            name: "sign-in-on-web", title: { _ in "Sign in on the web" },
            isPossible: { world, _ in world.clientIDs.count > 1 }
        ) { try await $0.signInOnWeb($1.subject) },
        WorldAction(
            name: "link-with-google", title: { _ in "Link with Google" }, next: "/world/exchanges",
            isPossible: { world, _ in world.google != nil }
        ) { try await $0.link($1.subject) },
        WorldAction(
            name: "stop-using-app", title: { _ in "Stop using the app" }, isPossible: { !$1.apps.isEmpty }
        ) { try await $0.change(.revokeConsent, $1.subject) },
        WorldAction(
            name: "change-forwarding",
            title: { "Turn \($0.forwardsEmail ? "off" : "on") e-mail forwarding" }
        ) { try await $0.change($1.forwardsEmail ? .disableForwarding : .enableForwarding, $1.subject) },
        WorldAction(name: "change-password", title: { _ in "Change password" }) {
            try $0.changePassword($1.subject)
        },
        WorldAction(name: "delete-account", title: { _ in "Delete Apple account" }, look: "danger") {
            try await $0.change(.deleteAccount, $1.subject)
        },
    ]
}
