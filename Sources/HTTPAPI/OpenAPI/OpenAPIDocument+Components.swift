extension OpenAPIDocument {
    /// What several calls share.
    static var components: String {
        #"""
        components:
          securitySchemes:
            apiKey:
              type: http
              scheme: bearer
          parameters:
            ClientID:
              name: client_id
              in: query
              required: true
              description: Any client ID of the app. The answer names the primary one.
              schema: { type: string }
          responses:
            Problem:
              description: An error (RFC 9457). With 503 comes `Retry-After`, with 405 `Allow`, with 401 `WWW-Authenticate`.
              content:
                application/problem+json:
                  schema: { $ref: "#/components/schemas/Problem" }
            Refused:
              description: The token is refused, or the caller is not known.
              content:
                application/problem+json:
                  schema: { $ref: "#/components/schemas/Problem" }
            Account:
              description: The account. The credentials are those that the caller may see.
              content:
                application/json:
                  schema: { $ref: "#/components/schemas/Account" }
            Redirect:
              description: The browser goes on.
              headers:
                Location: { schema: { type: string }, required: true }
                Set-Cookie: { schema: { type: string } }
            Page:
              description: A page for a person who cannot be led back to the app.
              content:
                text/html:
                  schema: { type: string }
            Status:
              description: One word, and with `/health` its parts.
              content:
                application/json:
                  schema:
                    type: object
                    required: [status]
                    properties:
                      status: { type: string, enum: [alive, ready, unavailable] }
          schemas:
            Time: { type: string, format: date-time }
            IdentityTokenRequest:
              type: object
              additionalProperties: false
              required: [identity_token]
              properties:
                identity_token: { type: string, minLength: 1, maxLength: 16384 }
                nonce: { type: string, minLength: 1, description: "The raw nonce, before the client hashed it." }
                client_id: { type: string, minLength: 1, description: "Narrows the audience, and never widens it." }
                authorization_code: { type: string, minLength: 1, description: "Bound to the token by its c_hash." }
                access_token: { type: string, minLength: 1, description: "Bound to the token by its at_hash." }
            SignInRequest:
              type: object
              additionalProperties: false
              required: [identity_token]
              properties:
                identity_token: { type: string, minLength: 1, maxLength: 16384 }
                nonce: { type: string, minLength: 1 }
                client_id: { type: string, minLength: 1 }
                authorization_code:
                  type: string
                  minLength: 1
                  description: Kept sealed and exchanged for a refresh token. Never delays or fails the sign-in.
                access_token: { type: string, minLength: 1 }
                user: { $ref: "#/components/schemas/AppleUser" }
                create: { type: boolean, default: true, description: "Whether an unknown person gets an account." }
            AppleUser:
              type: object
              description: Apple's own object, which the app gets once. Nobody signs it.
              properties:
                name:
                  type: object
                  properties:
                    firstName: { type: string, maxLength: 1024 }
                    lastName: { type: string, maxLength: 1024 }
                email: { type: string, maxLength: 1024 }
            Identity:
              type: object
              description: The token's claims under Apple's names.
              required: [iss, sub, aud, team_id, client_id, iat, exp]
              properties:
                iss: { type: string }
                sub: { type: string }
                aud: { type: string }
                team_id: { type: string }
                client_id: { type: string }
                iat: { $ref: "#/components/schemas/Time" }
                exp: { $ref: "#/components/schemas/Time" }
                auth_time: { $ref: "#/components/schemas/Time" }
                nonce: { type: string }
                nonce_supported: { type: boolean }
                c_hash: { type: string }
                at_hash: { type: string }
                email: { type: string }
                email_verified: { type: boolean }
                is_private_email: { type: boolean }
                real_user_status: { type: integer, enum: [0, 1, 2] }
                transfer_sub: { type: string }
                org_id: { type: string }

        """#
    }
}
