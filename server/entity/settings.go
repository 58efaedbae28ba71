package entity

import "svc/internal/config"

// FromSettings returns the Config of the settings.
func FromSettings(c *config.Config) Config {
	base := c.URL().String()
	return Config{
		Name:       c.API.Name,
		BaseURL:    base,
		Domain:     c.Host(),
		MediaURL:   base + "/media/",
		CacheBytes: int(c.Cache.RenderedBytes),
		Settings:   c,
	}
}
