package config

import "slices"

// registry returns the description of every setting, bound to the fields of c.
func (c *Config) registry() []section {
	return slices.Concat(
		[]section{
			c.serverSettings(),
			c.serverTLSSettings(),
			c.dataSettings(),
			c.cacheSettings(),
			c.apiSettings(),
			c.frontendSettings(),
			c.webSettings(),
			c.instanceSettings(),
			c.accountsSettings(),
			c.welcomeSettings(),
			c.statusesSettings(),
			c.pollsSettings(),
			c.chatsSettings(),
			c.timelinesSettings(),
			c.searchSettings(),
			c.streamingSettings(),
			c.mediaSettings(),
			c.mediaProxySettings(),
			c.storageSettings(),
			c.backupSettings(), c.replicaSettings(), c.s3Settings(), c.sftpSettings(),
			c.doctorSettings(),
			c.updateSettings(),
			c.emojiSettings(),
			c.cardsSettings(),
			c.federationSettings(),
		},
		c.policySections(),
		[]section{
			c.captchaSettings(),
			c.translationSettings(),
			c.oauthSettings(),
			c.rateLimitSettings(),
			c.mailSettings(),
			c.logSettings(),
			c.metricsSettings(),
		},
	)
}
