import AppleEmulator
import EmulatorServer
import Foundation
import TestSupport
import Testing

@testable import siwa_dev

@Suite struct SeedFileTests {
    @Test func `the example of the project is read`() throws {
        let file = try SeedFile(path: Self.example)
        #expect(file.people.count == 5)
        #expect(file.people.map(\.signsIn) == [true, true, false, false, false])
        let (ada, grace, katherine) = (file.people[0].recipe, file.people[1].recipe, file.people[2].recipe)
        #expect((ada.firstName, ada.lastName, ada.subject) == ("Ada", "Lovelace", "ada"))
        #expect(ada.email == .given("ada@example.com") && ada.realUserStatus == 2 && !ada.hidesEmail)
        #expect(grace.hidesEmail && grace.subject == nil)
        #expect(katherine.email == .derived && katherine.realUserStatus == 1)
        #expect(!file.people[3].recipe.isEmailVerified && file.people[3].recipe.realUserStatus == 0)
        let prince = file.people[4].recipe
        #expect((prince.firstName, prince.lastName) == ("Prince", nil))
        #expect(prince.email == RecipeAddress.none && prince.realUserStatus == nil)
    }

    private static var example: String {
        ProjectFolder.root.appending(path: "Fixtures/people/example.yaml").path
    }

    @Test(arguments: [
        ("", "is empty; a list named people is expected"),
        ("people: [", "is not YAML: did not find expected node content"),
        ("- name: Ada", "line 1: must be a mapping with the list people"),
        ("persons: []", "line 1: persons is not known"), ("people: Ada", "line 1: people must be a list"),
        ("people:\n  - Ada Lovelace", "line 2: a person must be a mapping"),
        ("people:\n  - name: Ada\n    mail: a@b", "line 3: mail is not known; did you mean email?"),
        ("people:\n  - name: [Ada]", "line 2: name must be a single value"),
        ("people:\n  - name: ''", "line 2: name must have a first name"),
        ("people:\n  - name: \(String(repeating: "a", count: 321))", "line 2: name must have a first name"),
        ("people:\n  - email: ada", "line 2: email must be an address"),
        ("people:\n  - email: a@b@c", "line 2: email must be an address"),
        ("people:\n  - email: a@b\n  - email: A@B", "line 3: email is the same as in line 2"),
        ("people:\n  - sub: a b", "line 2: sub must have letters"),
        ("people:\n  - sub: default", "line 2: sub must have letters"),
        ("people:\n  - sub: a\n  - sub: a", "line 3: sub is the same as in line 2"),
        ("people:\n  - signed_in: maybe", "line 2: signed_in must be true or false"),
        ("people:\n  - hides_email: 1", "line 2: hides_email must be true or false"),
        ("people:\n  - real_user_status: real", "line 2: real_user_status must be one of"),
        ("people:\n  - name: Ada\n    name: Eve", "has a name twice in one mapping"),
    ])
    func `a mistake is named with its line`(text: String, mistake: String) {
        #expect {
            try SeedFile(Data(text.utf8), path: "people.yaml")
        } throws: { error in
            "\(error)".hasPrefix("people.yaml") && "\(error)".contains(mistake)
        }
    }

    @Test func `all mistakes are listed, and the list is bounded`() {
        let people = (0..<30).map { _ in "  - mail: a" }.joined(separator: "\n")
        #expect { try SeedFile(Data("people:\n\(people)".utf8), path: "p.yaml") } throws: { error in
            let text = "\(error)"
            return text.contains("has 30 mistakes") && text.contains("and 10 more")
                && text.split(separator: "\n").count == 22
        }
    }

    @Test func `a file has at most as many people as fit, and a mebibyte`() throws {
        let people = Array(repeating: "{}", count: SeedFile.mostPeople).joined(separator: ",")
        #expect(try SeedFile(Data("people: [\(people)]".utf8), path: "p").people.count == SeedFile.mostPeople)
        #expect {
            try SeedFile(Data("people: [\(people),{}]".utf8), path: "p")
        } throws: { "\($0)".contains("people has 10000 entries; at most 9999 fit") }
        let large = "people: [] #" + String(repeating: "x", count: SeedFile.longest)
        #expect {
            try SeedFile(Data(large.utf8), path: "p")
        } throws: { "\($0)".contains("is larger than 1048576 bytes") }
    }

    @Test func `a missing file is named`() {
        #expect {
            try SeedFile(path: "/nowhere/people.yaml")
        } throws: { "\($0)" == "/nowhere/people.yaml: there is no such file, or this user cannot read it" }
    }

    @Test func `people of an earlier run stay as they are`() async throws {
        let apple = try await EmulatedApple(
            configuration: try EmulatorConfiguration(teamID: "A1B2C3D4E5", clientIDs: ["com.example.app"]),
            clock: .system)
        let file = try SeedFile(path: Self.example)
        let first = try apple.state.seed(file)
        #expect(first.count == 2 && first[0] == "ada")
        let count = apple.state.users.count
        #expect(count == 6)
        // Ada uses the app now; those without an address or with one of their name are made anew.
        var recipe = IdentityTokenRecipe()
        recipe.subject = "ada"
        _ = try await apple.state.mint(recipe)
        #expect(try apple.state.seed(file) == [first[1]])
        #expect(apple.state.users.filter { $0.email == "ada@example.com" }.count == 1)
        #expect(apple.state.users.filter { $0.email == "grace@example.com" }.count == 1)
    }
}
