/// Steps in time, each with what is expected of it.
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
        /// The primary one first.
        let clientIDs: [String]
    }
}
