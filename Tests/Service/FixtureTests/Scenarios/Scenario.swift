/// Steps in time, each with its expected result.
struct Scenario: Decodable, Sendable {
    let summary: String
    let apps: [AppEntry]
    let steps: [ScenarioStep]

    struct AppEntry: Decodable {
        enum CodingKeys: String, CodingKey {
            case teamID = "team_id"
            case clientIDs = "client_ids"
        }

        let teamID: String
        /// Client IDs of the app, the primary client ID first.
        let clientIDs: [String]
    }
}
