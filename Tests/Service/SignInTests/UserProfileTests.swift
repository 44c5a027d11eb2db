import AppleAccounts
import SignIn
import StorageConformance
import StrictJSON
import Testing

/// The forms in which apps and libraries have the name that Apple sends once.
@Suite struct UserProfileTests {
    @Test(arguments: [
        #"{"name":{"firstName":"Ada","lastName":"Lovelace"}}"#,
        #"{"firstName":"Ada","lastName":"Lovelace"}"#,
        // Flutter (sign_in_with_apple) and Capacitor: flat, with absent members as null.
        #"{"userIdentifier":"0.a.1","givenName":"Ada","familyName":"Lovelace","email":null}"#,
        // Expo and React Native: nested beside more parts of the name.
        #"{"user":"0.a.1","fullName":{"namePrefix":null,"givenName":"Ada","middleName":"King","familyName":"Lovelace"}}"#,
        // Unity: properties, or fields, of its classes.
        #"{"FullName":{"GivenName":"Ada","FamilyName":"Lovelace"},"Email":null}"#,
        #"{"_fullName":{"_givenName":"Ada","_familyName":"Lovelace"}}"#,
        #"{"given_name":"Ada","family_name":"Lovelace"}"#, #"{"name":"Ada Lovelace"}"#,
        #"{"full_name":"Ada\u00a0Lovelace"}"#, #"{"displayName":"Ada Lovelace"}"#,
        #"{"name":{"firstName":"","givenName":"Ada","lastName":"Lovelace"}}"#,
    ])
    func `gives the name`(text: String) throws {
        let profile = try UserProfile(parsing: text)
        #expect(profile == UserProfile(firstName: "Ada", lastName: "Lovelace"))
    }

    @Test func `gives the address, and one word as the first name`() throws {
        let profile = try UserProfile(parsing: #"{"Email":"ada@example.com","name":"Ada"}"#)
        #expect(profile == UserProfile(firstName: "Ada", email: "ada@example.com"))
        #expect(try UserProfile(parsing: #"{"name":"Ada King Lovelace"}"#).lastName == "King Lovelace")
    }

    @Test(arguments: [
        "{}", #"{"name":null}"#, #"{"name":{}}"#, #"{"name":"  "}"#, #"{"nickname":"Ada"}"#,
        #"{"fullName":7,"givenName":["Ada"],"Email":{}}"#,
    ])
    func `is empty without a name`(text: String) throws {
        #expect(try UserProfile(parsing: text) == UserProfile())
    }

    @Test(arguments: [
        #"{"name":7}"#, #"{"name":{"firstName":7}}"#, #"{"email":true}"#, "7", "",
    ])
    func `refuses another type`(text: String) {
        #expect(throws: UserProfile.Fault.self) { try UserProfile(parsing: text) }
    }

    @Test(arguments: ["-", "ada", "@", "a@", "@b"])
    func `drops what is no address, and says so`(text: String) throws {
        let profile = try UserProfile(JSONObject([("email", .string(text))]))
        #expect(profile.email == nil)
        #expect(profile.dropped == ["user.email"])
    }

    @Test(arguments: [
        ("Ada\nMaria", "Ada Maria"), ("Ada\r\n", "Ada"), ("\u{7F}Ada\t\tMaria\u{85}", "Ada Maria"),
        (String(repeating: "a", count: 300), String(repeating: "a", count: 256)),
        (String(repeating: "👩‍👩‍👧", count: 60), String(repeating: "👩‍👩‍👧", count: 51)),
    ])
    func `a name is cleaned and cut, and never lost`(name: String, expected: String) {
        let command = SignInCommand(
            key: SubjectKey(team: "A1B2C3D4E5", subject: "0.a.1"),
            clientID: "com.example.app", authorizedAt: Moment(seconds: 1), profile: Profile(firstName: name),
            receivedAt: Moment(seconds: 1))
        #expect(command.profile.firstName == expected)
    }

    @Test func `says that a long name is cut`() throws {
        let long = String(repeating: "a", count: 257)
        #expect(try UserProfile(JSONObject([("givenName", .string(long))])).dropped == ["user.name"])
        let longest = String(repeating: "a", count: 256)
        #expect(try UserProfile(JSONObject([("givenName", .string(longest))])).dropped == [])
    }
}
